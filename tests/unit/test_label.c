/* SPDX-License-Identifier: Apache-2.0 */
/* Texts; names of NVTX ranges: which are steps, how they are cut, that no name is read too far. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"

Test(label, steps_by_their_words)
{
	static const char *const steps[] = {
		"step",           "Step 12",           "step_12",
		"ProfilerStep#7", "train_step",        "iteration5",
		"iter 3",         "TrainingIteration", "epoch 3 step 7",
		"global_step=9",  "[train] step (12)", "Train Step",
	};
	static const char *const others[] = {
		"",
		"optimizer.step",
		"Optimizer.step#Adam.step",
		"forward_step",
		"stepping",
		"steps",
		"validation_step",
		"step done",
		"12",
		"batch 3",
		"footstep",
		"iterate",
		"lr_scheduler step",
		"stepstep",
		"step of a very long name that goes on and on and on and on and on and on and on",
	};
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		cr_expect(label_is_step(steps[i], NULL), "%s", steps[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect_not(label_is_step(others[i], NULL), "%s", others[i]);
}

Test(label, steps_by_the_name_that_the_user_gives)
{
	cr_expect(label_is_step("[pl]run_training_batch", "[pl]run_training_batch"));
	cr_expect(label_is_step("batch", "batch"));
	cr_expect(label_is_step("batch #12", "batch"));
	cr_expect_not(label_is_step("batch 12 data", "batch"));
	cr_expect_not(label_is_step("batches", "batch"));
	cr_expect_not(label_is_step("step 3", "batch"));
	cr_expect(label_is_step("step 3", NULL));
}

/* The name lies at the end of a page, so that reading a byte too many is a fault. */
Test(label, no_more_is_read_than_is_kept)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char label[LABEL_BYTES];

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(mprotect(map + page, page, PROT_NONE), 0);
	memset(map, 'x', page);
	label_copy(label, map + page - LABEL_BYTES);
	cr_expect_eq(strlen(label), LABEL_BYTES - 1);
	map[page - 1] = '\0';
	label_copy(label, map + page - 3);
	cr_expect_str_eq(label, "xx");
	label_copy(label, NULL);
	cr_expect_eq(label[0], '\0');
	munmap(map, 2 * page);
}

Test(label, no_character_is_cut)
{
	char label[LABEL_BYTES];

	label_copy(label, "\xc3\xa9"
			  "0123456789012345678901234567890123456789012345678901234567890123456"
			  "78901234567890123\xc3\xa9\xc3\xa9");
	cr_expect_eq(strlen(label), 86, "not cut within a character");
}

Test(text, is_formatted_as_by_printf)
{
	const char *unknown = "a%db%xc%%";
	TEXT(text, 80);
	TEXT(cut, 8);

	text_format(&text, "%s", "");
	cr_expect_str_eq(text.buffer, "");
	text_format(&text, "<%s %d|%u %ld", "one", INT_MIN, UINT_MAX, LONG_MIN);
	text_format(&text, ",%lu%s>", (unsigned long)LONG_MAX, "two");
	cr_expect_str_eq(text.buffer,
			 "<one -2147483648|4294967295 -9223372036854775808,"
			 "9223372036854775807two>");
	cr_expect_not(text.cut);
	text_format(&cut, "%s-%d", "12345", 678);
	cr_expect(cut.cut);
	cr_expect_str_eq(cut.buffer, "12345-6");
	text_init(&text, text_buffer, sizeof(text_buffer));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	text_format(&text, unknown, 1, 2);
#pragma GCC diagnostic pop
	cr_expect_str_eq(text.buffer, "a1b", "nothing behind what is not known");
}

Test(text, keeps_the_end_of_a_long_name)
{
	char field[5];

	cr_expect_str_eq(text_end("abcd", 5), "abcd");
	cr_expect_str_eq(text_end("abcde", 5), "bcde");
	text_copy(field, sizeof(field), "abcde");
	cr_expect_str_eq(field, "abcd");
}

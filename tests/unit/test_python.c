/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_python.c - tests the reader of Python's stacks with damaged memory, tables of lines and
 * strings. It reads this same process, in which the test makes the objects.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/python/lines.h"
#include "drain/python/python.h"

static struct memory memory;
static struct layout layout;

static uint64_t at(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

static void put(void *object, size_t offset, uint64_t word)
{
	memcpy((uint8_t *)object + offset, &word, sizeof(word));
}

static void set_up(void)
{
	memory_open(&memory, getpid());
	layout_find(&memory, 0, 0x030b02f0, &layout);
}

static enum reason find(uint32_t version, const uint64_t *words)
{
	struct layout ignored;

	return layout_find(&memory, at(words), version, &ignored);
}

Test(layout, is_that_of_a_released_version_with_a_lock, .init = set_up)
{
	uint64_t words[120] = {0, 0x030d00f0};
	const int minors[] = {0, 7, 16, 99};

	memcpy(words, "xdebugpy", 8);
	for (size_t i = 3; i < ARRAY_COUNT(words); i++)
		words[i] = 16;
	cr_expect_eq(find(0x030d00f0, words), REASON_OBSERVED);
	cr_expect_eq(find(0x030d01f0, words), REASON_STRANGE, "it says that it is another one");
	words[2] = 1;
	cr_expect_eq(find(0x030d00f0, words), REASON_FREE_THREADED);
	words[2] = 0;
	words[1] = 0x030d00c1;
	cr_expect_eq(find(0x030d00c1, words), REASON_VERSION, "before its release");
	words[1] = 0x030d00f0;
	words[33] = 4096;
	cr_expect_eq(find(0x030d00f0, words), REASON_STRANGE, "a frame of pages");
	words[33] = UINT64_MAX;
	cr_expect_eq(find(0x030d00f0, words), REASON_STRANGE);
	words[33] = 16;
	memset(words, 0, 8);
	cr_expect_eq(find(0x030d00f0, words), REASON_NOT_READY, "not begun");
	cr_expect_eq(find(0x030d00f0, NULL), REASON_NOT_READY, "not readable");
	for (size_t i = 0; i < ARRAY_COUNT(minors); i++)
		cr_expect_eq(find(0x030000f0 | (uint32_t)minors[i] << 16, words), REASON_VERSION);
	cr_expect_eq(find(0x040b00f0, words), REASON_VERSION);
}

Test(reason, has_a_text_of_its_own)
{
	for (int i = 0; i < REASON_COUNT; i++) {
		cr_assert_not_null(reason_text(i), "%d", i);
		for (int k = 0; k < i; k++)
			cr_expect_str_neq(reason_text(i), reason_text(k));
	}
}

static int32_t line(uint32_t minor, const char *table, size_t size, int64_t offset)
{
	const struct lines lines = {minor, 10, (const uint8_t *)table, size};

	return lines_at(&lines, offset);
}

#define LINE(minor, table, offset) line(minor, table, sizeof(table) - 1, offset)

Test(python, are_those_of_each_table)
{
	/* 6 bytes belong to line 10, 4 to line 13, 200 to line 11. */
	cr_expect_eq(LINE(8, "\x06\x03\x04\xfe", 0), 10);
	cr_expect_eq(LINE(9, "\x06\x03\x04\xfe", 5), 10);
	cr_expect_eq(LINE(9, "\x06\x03\x04\xfe", 6), 13);
	cr_expect_eq(LINE(9, "\x06\x03\x04\xfe", 200), 11);
	cr_expect_eq(LINE(9, "", 4), 10, "a function of one line");
	/* The same, with two bytes without a line after the first line's. */
	cr_expect_eq(LINE(10, "\x06\x00\x02\x80\x04\x03\xc8\xfe", -2), 10);
	cr_expect_eq(LINE(10, "\x06\x00\x02\x80\x04\x03\xc8\xfe", 6), 0);
	cr_expect_eq(LINE(10, "\x06\x00\x02\x80\x04\x03\xc8\xfe", 8), 13);
	cr_expect_eq(LINE(10, "\x06\x00\x02\x80\x04\x03\xc8\xfe", 12), 11);
	cr_expect_eq(LINE(10, "\x06\x00\x02\x80\x04\x03\xc8\xfe", 999), 0, "behind the end");
	/* Short; one line further; two lines back, without columns; no line; long: 100 further. */
	cr_expect_eq(LINE(11, "\x80\x00\xd9\x01\x02\xea\x05", 0), 10);
	cr_expect_eq(LINE(11, "\x80\x00\xd9\x01\x02\xea\x05", 5), 11);
	cr_expect_eq(LINE(12, "\x80\x00\xd9\x01\x02\xea\x05", 6), 9);
	cr_expect_eq(LINE(13, "\xf8\x80\x00", 1), 0);
	cr_expect_eq(LINE(13, "\xf8\x80\x00", 2), 10);
	cr_expect_eq(LINE(14, "\xf0\x48\x03\x01\x01\x01", 0), 110);
	cr_expect_eq(LINE(14, "\xf0\x48", 0), 14, "a number that is cut");
	cr_expect_eq(LINE(14, "\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 0), 0, "an endless one");
	cr_expect_eq(LINE(11, "\xe8\x1f", 0), 0, "a line before the first");
}

/* A code object and its parts, laid out as in Python 3.11. */
struct object {
	uint64_t code[24], type[4], table[8], name[1200], file[16];
	char type_name[8];
};

static void make_text(uint64_t *text, unsigned int kind, bool is_ascii, const void *chars,
		      size_t count)
{
	put(text, TEXT_LENGTH, count);
	put(text, TEXT_STATE, kind << 2 | 1u << 5 | (is_ascii ? 1u << 6 : 0));
	memcpy((uint8_t *)text + (is_ascii ? 48 : 72), chars, kind * count);
}

static struct object *make(const char *name)
{
	static struct object *first;
	struct object *object = calloc(1, sizeof(*object));

	if (!first)
		first = object;
	strcpy(object->type_name, "code");
	put(object->type, TYPE_NAME, at(object->type_name));
	put(object->code, OBJECT_TYPE, at(first->type));
	put(object->code, OBJECT_SIZE, 8);
	put(object->code, layout.at[CODE_FIRST_LINE], 10);
	put(object->code, layout.at[CODE_NAME], at(object->name));
	put(object->code, layout.at[CODE_FILE], at(object->file));
	put(object->code, layout.at[CODE_LINES], at(object->table));
	put(object->table, OBJECT_SIZE, 2);
	memcpy((uint8_t *)object->table + BYTES_START, "\x80\x00", 2);
	make_text(object->name, 1, true, name, strlen(name));
	make_text(object->file, 1, true, "/a.py", 5);
	return object;
}

static struct code_cache cache;

static const struct code *get(struct object *object)
{
	return code_get(&cache, &memory, &layout, at(object->code), (uint8_t *)object->code);
}

Test(code, is_known_until_it_is_another, .init = set_up)
{
	struct object *object = make("one"), *other = make("two");
	const struct code *code = get(object);

	cr_assert_not_null(code);
	cr_expect_str_eq(code->name, "one");
	cr_expect_str_eq(code->file, "/a.py");
	cr_expect_eq(code_line(code, &layout, 0), 10);
	cr_expect_eq(code_line(code, &layout, 16), 0, "behind its instructions");
	cr_expect_eq(code_line(code, &layout, INT64_MIN), 0);
	cr_expect_eq(get(object), code);
	cr_expect_eq(cache.missed, 1);
	put(object->code, layout.at[CODE_NAME], at(other->name));
	cr_expect_str_eq(get(object)->name, "two");
	cr_expect_str_eq(code->name, "one", "it lasts until the next turn");
	cr_expect_eq(cache.reused, 1);
	put(other->code, OBJECT_TYPE, at(other->type));
	cr_expect_null(get(other), "of another type");
	code_done(&cache);
	cr_expect_eq(cache.count, 0);
	cr_expect_eq(cache.bytes, 0);
}

Test(code, has_parts_that_can_be_read, .init = set_up)
{
	struct object *object = make("one");
	const uint8_t *head = (uint8_t *)object->code;

	put(object->code, layout.at[CODE_FILE], 8);
	cr_expect_null(get(object), "nowhere");
	put(object->code, layout.at[CODE_FILE], at(object->file));
	put(object->file, TEXT_STATE, 3 << 2 | 1 << 5);
	cr_expect_null(get(object), "three bytes a character");
	put(object->file, TEXT_STATE, 1 << 2);
	cr_expect_null(get(object), "characters elsewhere");
	make_text(object->file, 1, true, "/a.py", 5);
	cr_expect_null(code_get(&cache, &memory, &layout, 16, head), "freed meanwhile");
	put(object->table, OBJECT_SIZE, UINT64_MAX);
	cr_assert_not_null(get(object));
	cr_expect_eq(code_line(get(object), &layout, 0), 0, "a table that is too long");
}

Test(code, has_names_in_utf_8, .init = set_up)
{
	const uint32_t wide[] = {0x24, 0xa3, 0x20ac, 0x1f600, 0xdcff, 0x110000, 0};
	const uint16_t half[] = {0x24, 0xa3, 0x20ac, 0xd800};
	struct object *object = make("");
	char many[3000];

	make_text(object->name, 4, false, wide, ARRAY_COUNT(wide));
	make_text(object->file, 2, false, half, ARRAY_COUNT(half));
	cr_expect_str_eq(get(object)->name, "$\u00a3\u20ac\U0001f600\ufffd\ufffd\ufffd");
	cr_expect_str_eq(get(object)->file, "$\u00a3\u20ac\ufffd");
	memset(many, 0xe4, sizeof(many));
	object = make("");
	make_text(object->name, 1, false, many, sizeof(many));
	cr_expect_eq(strlen(get(object)->name), 2048, "a name that is cut");
}

Test(code, takes_little_memory, .init = set_up)
{
	size_t most = 0, bytes = 0;
	char name[16];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		cr_assert_str_eq(get(make(name))->name, name);
		most = cache.count > most ? cache.count : most;
		bytes = cache.bytes > bytes ? cache.bytes : bytes;
		code_next_turn(&cache);
	}
	cr_expect_gt(most, 500);
	cr_expect_lt(most, 1100);
	cr_expect_lt(bytes, 2 << 20);
	code_done(&cache);
	cr_expect_eq(cache.bytes, 0);
}

/* Frames within one page, so that one call reads them all. */
static uint64_t frames[512] __attribute__((aligned(4096)));

static void read_frames(struct object *object, uint64_t current, struct stack *ret)
{
	uint64_t state[32] = {0}, holder[4] = {0};

	put(holder, layout.at[CFRAME_FRAME], current);
	put(state, layout.at[THREAD_FRAME], at(holder));
	stack_read(&memory, &layout, &cache, at(state), (uint8_t *)state, ret);
}

static void make_frame(uint64_t *frame, struct object *object, const void *back)
{
	put(frame, layout.at[FRAME_CODE], at(object->code));
	put(frame, layout.at[FRAME_INSTRUCTION], at(object->code) + layout.at[CODE_START]);
	put(frame, layout.at[FRAME_BACK], at(back));
}

Test(stack, ends, .init = set_up)
{
	struct object *object = make("one"), *none = make("two");
	static struct stack stack;

	read_frames(object, 0, &stack);
	cr_expect(stack.depth == 0 && !stack.is_torn && !stack.is_cut, "no frame");
	make_frame(frames, object, NULL);
	read_frames(object, at(frames), &stack);
	cr_expect(stack.depth == 1 && !stack.is_torn && !stack.is_cut);
	cr_expect_eq(stack.frames[0].line, 10);
	make_frame(frames, object, frames);
	read_frames(object, at(frames), &stack);
	cr_expect(stack.depth == 64 && !stack.is_torn && stack.is_cut, "a circle");
	frames[layout.at[FRAME_OWNER] / 8] = UINT64_C(3) << layout.at[FRAME_OWNER] % 8 * 8;
	read_frames(object, at(frames), &stack);
	cr_expect(stack.depth == 0 && stack.is_cut, "a circle of frames of C");
	frames[layout.at[FRAME_OWNER] / 8] = UINT64_MAX;
	read_frames(object, at(frames), &stack);
	cr_expect(stack.depth == 0 && stack.is_torn, "no frame");
	memset(frames, 0, sizeof(frames));
	make_frame(frames + 100, object, frames);
	make_frame(frames, object, (void *)8);
	read_frames(object, at(frames + 100), &stack);
	cr_expect(stack.depth == 2 && stack.is_torn, "a frame nowhere");
	put(none->code, OBJECT_TYPE, at(none->type));
	make_frame(frames, none, NULL);
	read_frames(object, at(frames + 100), &stack);
	cr_expect(stack.depth == 1 && stack.is_torn, "a frame of no code");
	read_frames(object, UINT64_MAX - 8, &stack);
	cr_expect(stack.depth == 0 && stack.is_torn, "at the end of all memory");
}

/* A thread whose current frame lies now in one struct, now in another, as it calls C functions.
 */
static uint64_t moving_state[32], holders[2][4];

static ssize_t read_and_move(const struct memory *other, const struct iovec *to,
			     const struct iovec *from, size_t count)
{
	struct memory still;
	ssize_t bytes;

	memory_open(&still, other->pid);
	bytes = still.read(&still, to, from, count);
	put(moving_state, layout.at[THREAD_FRAME],
	    at(memory_word(moving_state, layout.at[THREAD_FRAME]) == at(holders[0]) ? holders[1]
										    : holders[0]));
	return bytes;
}

Test(stack, is_read_anew_where_its_thread_moves, .init = set_up)
{
	static struct {
		struct stack stack;
		uint8_t behind[4096];
	} read;
	struct object *object = make("one");

	make_frame(frames, object, frames);
	for (size_t i = 0; i < ARRAY_COUNT(holders); i++)
		put(holders[i], layout.at[CFRAME_FRAME], at(frames));
	put(moving_state, layout.at[THREAD_FRAME], at(holders[0]));
	memory.read = read_and_move;
	stack_read(&memory, &layout, &cache, at(moving_state), (uint8_t *)moving_state,
		   &read.stack);
	cr_expect_eq(read.stack.depth, STACK_FRAMES, "%zu", read.stack.depth);
	cr_expect(read.stack.is_torn && read.stack.is_cut);
	for (size_t i = 0; i < sizeof(read.behind); i++)
		cr_assert_eq(read.behind[i], 0, "written behind the stack");
}

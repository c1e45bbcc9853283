/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "line/near.h"

static const char *nearest(const char *word)
{
	static const char *const names[] = {"",      "gate",         "compare", "batches", "top",
					    "trace", "head_of_line", "html",    "import"};
	struct near near = {word, strlen(word)};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		near_try(&near, names[i]);
	return near.name ? near.name : "none";
}

Test(near, a_letter_is_missing_added_wrong_or_swapped)
{
	cr_assert_str_eq(nearest("gat"), "gate");
	cr_assert_str_eq(nearest("gatee"), "gate");
	cr_assert_str_eq(nearest("gats"), "gate");
	cr_assert_str_eq(nearest("gaet"), "gate");
	cr_assert_str_eq(nearest("comapre"), "compare");
	cr_assert_str_eq(nearest("head-of-line"), "head_of_line");
	cr_assert_str_eq(nearest("HTML"), "html");
}

Test(near, a_beginning_is_enough)
{
	cr_assert_str_eq(nearest("comp"), "compare");
	cr_assert_str_eq(nearest("head_of"), "head_of_line");
}

Test(near, another_word_is_not_near)
{
	cr_assert_str_eq(nearest("frobnicate"), "none");
	cr_assert_str_eq(nearest("x"), "none");
	cr_assert_str_eq(nearest(""), "none");
	cr_assert_str_eq(nearest("ta"), "none");
	cr_assert_str_eq(nearest("a_word_that_is_longer_than_any_name_that_there_is"), "none");
}

Test(near, words_are_a_question_or_nothing)
{
	struct near near = {"jsn=3", 3};
	char text[NEAR_WORDS];

	cr_assert_str_eq(near_words(&near, "--", text), "");
	near_try(&near, "csv");
	near_try(&near, "json");
	cr_assert_str_eq(near_words(&near, "--", text), "; did you mean --json?");
}

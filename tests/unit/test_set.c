/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analysis/predict/same.h"
#include "dlprof/set.h"

static struct dlprof_set_list list;

static enum dlprof_set_problem parse(const char *text)
{
	const char *at;
	size_t length;

	return dlprof_set_parse(text, &list, &at, &length);
}

Test(set, all_loaders_or_one)
{
	cr_assert_eq(parse("workers=8,in_order=false;a/train.py:16:workers=2,prefetch=4;"
			   "pin_memory=true"),
		     DLPROF_SET_FINE);
	cr_assert_eq(list.count, 5);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_WORKERS, NULL), 8);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_WORKERS, "train.py:16 in main"), 2);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_WORKERS, "train.py:16"), 2);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_WORKERS, "train.py:160"), 8);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_PREFETCH, "train.py:16"), 4);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_PREFETCH, "train.py:1"), -1);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_PIN, "train.py:1"), 1);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_IN_ORDER, NULL), 0);
	/* As remedies and programs spell them. */
	cr_assert_eq(parse("num_workers=2,persistent=True,in_order=False"), DLPROF_SET_FINE);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_PERSISTENT, NULL), 1);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_IN_ORDER, NULL), 0);
	/* The last setting counts, but a setting for a place goes before settings for all. */
	cr_assert_eq(parse("train.py:16:workers=2;workers=8,workers=4"), DLPROF_SET_FINE);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_WORKERS, "train.py:16"), 2);
	cr_assert_eq(dlprof_set_wanted(&list, DLPROF_SET_WORKERS, "train.py:17"), 4);
}

Test(set, every_key_takes_its_values_and_no_other)
{
	for (int i = 0; i < DLPROF_SET_MAX; i++) {
		const struct dlprof_set_row *row = &dlprof_set_rows[i];
		char text[80];

		for (int side = 0; side < 2; side++) {
			snprintf(text, sizeof(text), "%s=%d", row->key,
				 side ? row->most + 1 : row->least - 1);
			cr_assert_eq(parse(text), DLPROF_SET_BAD_VALUE, "%s", text);
		}
		if (!*row->words) {
			snprintf(text, sizeof(text), "%s=%d", row->key, row->most);
			cr_assert_eq(parse(text), DLPROF_SET_FINE, "%s", text);
			cr_assert_eq(list.entries[0].value, row->most);
		}
		for (const char *word = row->words; *word; word += *word == '|') {
			size_t length = strcspn(word, "|");

			snprintf(text, sizeof(text), "%s=%.*s",
				 *row->other_key ? row->other_key : row->key, (int)length, word);
			word += length;
			cr_assert_eq(parse(text), DLPROF_SET_FINE, "%s", text);
			cr_assert_eq(list.entries[0].key, i);
		}
	}
	cr_assert_eq(list.entries[0].place, NULL);
}

Test(set, what_makes_no_sense)
{
	static const struct {
		const char *text;
		enum dlprof_set_problem problem;
	} cases[] = {
		{"", DLPROF_SET_BAD_KEY},
		{"=", DLPROF_SET_BAD_KEY},
		{",", DLPROF_SET_BAD_KEY},
		{"workers=1,", DLPROF_SET_BAD_KEY},
		{"workers", DLPROF_SET_BAD_VALUE},
		{"workers=99999999999999999999", DLPROF_SET_BAD_VALUE},
		{"workers=1 ", DLPROF_SET_BAD_VALUE},
		{"a.py:workers=1", DLPROF_SET_BAD_PLACE},
		{"a.py:x:workers=1", DLPROF_SET_BAD_PLACE},
		{"a.py:1:threads=1", DLPROF_SET_BAD_PLACE},
		{"a.py:1:", DLPROF_SET_BAD_KEY},
		{"in_order=fals", DLPROF_SET_BAD_VALUE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_assert_eq(parse(cases[i].text), cases[i].problem, "'%s'", cases[i].text);
}

Test(set, what_it_does_to_the_samples)
{
	static const struct {
		const char *changes;
		enum same map, iterable;
	} cases[] = {
		{"train.py:16 in main: workers 1 -> 4", SAME_ORDER, SAME_NONE},
		{"a loader: workers 0 -> 4", SAME_UNSHUFFLED, SAME_NONE},
		{"workers 4 -> 0", SAME_UNSHUFFLED, SAME_NONE},
		{"prefetch_factor 2 -> 8, context -> spawn, sharing -> file_system", SAME_ALL,
		 SAME_ALL},
		{"prefetch_factor 2 -> 8, workers 2 -> 3", SAME_ORDER, SAME_NONE},
		{"persistent_workers false -> true", SAME_UNSHUFFLED, SAME_ORDER},
		{"workers 2 -> 3, in_order true -> false", SAME_NONE, SAME_NONE},
		{"", SAME_ALL, SAME_ALL},
		{" -> ", SAME_ALL, SAME_ALL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_assert_eq(same_after_changes(cases[i].changes, false), cases[i].map, "%zu", i);
		cr_assert_eq(same_after_changes(cases[i].changes, true), cases[i].iterable,
			     "%zu", i);
	}
}

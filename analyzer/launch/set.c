/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/set.h"

#include <stdio.h>
#include <string.h>

#include "dlprof/set.h"
#include "dlprof/units.h"
#include "line/near.h"

static void list_keys(char *text, size_t size)
{
	*text = '\0';
	for (int i = 0; i < DLPROF_SET_MAX; i++)
		snprintf(text + strlen(text), size - strlen(text), "%s%s", i ? ", " : "",
			 dlprof_set_rows[i].key);
}

static const char *tfdata_code(const char *key, size_t length)
{
	static const char *const codes[][2] = {
		{"private_threadpool_size", "dataset.with_options() of options.threading"},
		{"max_intra_op_parallelism", "dataset.with_options() of options.threading"},
		{"num_parallel_calls", "map(..., num_parallel_calls=N)"},
		{"cycle_length", "interleave(..., cycle_length=N)"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(codes); i++)
		if (dlprof_set_is(key, length, codes[i][0]))
			return codes[i][1];
	return NULL;
}

static void say_key(const char *key, size_t length, char *problem, size_t size)
{
	struct near near = {key, length};
	const char *code = tfdata_code(key, length);
	char words[NEAR_WORDS], keys[160];

	if (code) {
		snprintf(problem, size,
			 "'%.*s' is a part of tf.data's graph, which only its program can set: %s",
			 (int)length, key, code);
		return;
	}
	for (int i = 0; i < DLPROF_SET_MAX; i++)
		near_try(&near, dlprof_set_rows[i].key);
	near_words(&near, "", words);
	list_keys(keys, sizeof(keys));
	snprintf(problem, size, "'%.*s' is no setting%s There are %s", (int)length, key,
		 *words ? words : ".", keys);
}

bool set_check(const char *text, char *problem, size_t size)
{
	struct dlprof_set_list list;
	const char *at, *equals, *key;
	size_t length;
	enum dlprof_set_problem what = dlprof_set_parse(text, &list, &at, &length);
	const struct dlprof_set_row *row = NULL;

	if (what == DLPROF_SET_FINE)
		return true;
	if (what != DLPROF_SET_TOO_MANY && list.entries[list.count].key < DLPROF_SET_MAX)
		row = &dlprof_set_rows[list.entries[list.count].key];
	equals = memchr(at, '=', length);
	key = memrchr(at, ':', equals ? (size_t)(equals - at) : length);
	key = key ? key + 1 : at;
	switch (what) {
	case DLPROF_SET_BAD_KEY:
		say_key(key, (size_t)((equals ? equals : at + length) - key), problem, size);
		break;
	case DLPROF_SET_BAD_VALUE:
		snprintf(problem, size, "'%.*s': %s takes %s", (int)length, at, row->key,
			 row->takes);
		break;
	case DLPROF_SET_BAD_PLACE:
		if (row && row->scope == DLPROF_SET_PROGRAM)
			snprintf(problem, size,
				 "'%.*s': %s is of the whole program and takes no place",
				 (int)length, at, row->key);
		else
			snprintf(problem, size,
				 "'%.*s': a place is that of one loader, as train.py:16:workers=8",
				 (int)length, at);
		break;
	default:
		snprintf(problem, size, "these are more than %d settings", DLPROF_SET_MOST);
		break;
	}
	return false;
}

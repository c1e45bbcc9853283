/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/predict/same.h"

#include <string.h>

const char *const same_words[SAME_MAX] = {
	[SAME_ALL] = "same samples, same order",
	[SAME_ORDER] = "same order, other random numbers in the dataset",
	[SAME_UNSHUFFLED] = "other random numbers, and so another order if they shuffle",
	[SAME_NONE] = "other order",
};

const char *const same_ids[SAME_MAX] = {
	[SAME_ALL] = "same",
	[SAME_ORDER] = "same_order",
	[SAME_UNSHUFFLED] = "other_order_if_shuffled",
	[SAME_NONE] = "other_order",
};

enum same same_after(enum dlprof_set key, int64_t before, int64_t after, bool is_iterable)
{
	if (before == after)
		return SAME_ALL;
	switch (key) {
	case DLPROF_SET_WORKERS:
		return is_iterable			? SAME_NONE
		       : before <= 0 || after <= 0 ? SAME_UNSHUFFLED
						   : SAME_ORDER;
	case DLPROF_SET_PERSISTENT:
		return is_iterable ? SAME_ORDER : SAME_UNSHUFFLED;
	case DLPROF_SET_IN_ORDER:
		return SAME_NONE;
	default:
		return SAME_ALL;
	}
}

/* Returns a number's value. A word such as "true" gets a negative value by its first letter. */
static int64_t value_of(const char *text, size_t length)
{
	int32_t number = dlprof_set_number(text, length);

	return number >= 0 ? number : -1 - (int64_t)text[0];
}

enum same same_after_changes(const char *changes, bool is_iterable)
{
	const char *begin = strrchr(changes, ':'), *arrow;
	enum same most = SAME_ALL;

	begin = begin ? begin + 1 : changes;
	while ((arrow = strstr(begin, " -> "))) {
		const char *key = begin + strspn(begin, " ,"), *after = arrow + 4;
		const char *before = memchr(key, ' ', (size_t)(arrow - key));
		size_t key_length = (size_t)((before ? before : arrow) - key);
		size_t after_length = strcspn(after, ",");

		for (int i = 0; before && i < DLPROF_SET_MAX; i++) {
			enum same same = same_after(
				(enum dlprof_set)i,
				value_of(before + 1, (size_t)(arrow - before - 1)),
				value_of(after, after_length), is_iterable);

			if (dlprof_set_is(key, key_length, dlprof_set_rows[i].key) && same > most)
				most = same;
		}
		begin = after + after_length;
	}
	return most;
}

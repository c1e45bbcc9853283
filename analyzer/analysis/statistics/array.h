/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - arrays that grow by one element. An array's capacity is not stored: it is the smallest
 * power of two that is at least the count. So its memory must come from these functions alone.
 */
#pragma once

#include <stdlib.h>

/* Returns `list` with room for `count` + 1 elements, or NULL without memory, keeping `list`. */
static inline void *array_grown(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : reallocarray(list, count ? 2 * count : 1, size);
}

/* Makes room for one more element in `list`. Evaluates to false if there is no memory. */
#define ARRAY_GROW(list, count)                                                                    \
	({                                                                                         \
		void *array_list = array_grown(list, count, sizeof(*(list)));                      \
		if (array_list)                                                                    \
			(list) = array_list;                                                       \
		array_list != NULL;                                                                \
	})

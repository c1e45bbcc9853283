/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - lets arrays grow, one element at a time, and searches sorted arrays. */
#pragma once

#include <stdlib.h>

/* Returns `list` with room for one more element. NULL: no memory, and `list` stays valid. */
static inline void *array_grown(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : reallocarray(list, count ? 2 * count : 1, size);
}

/* Sets `list` to `grown`, the same array with more room. Evaluates to false if `grown` is NULL. */
#define ARRAY_TAKE(list, grown)                                                                    \
	({                                                                                         \
		void *array_list = (grown);                                                        \
		if (array_list)                                                                    \
			(list) = array_list;                                                       \
		array_list != NULL;                                                                \
	})

/* Make room for one more element, or for `capacity` elements. Evaluate to false: no memory. */
#define ARRAY_GROW(list, count)      ARRAY_TAKE(list, array_grown(list, count, sizeof(*(list))))
#define ARRAY_RESIZE(list, capacity) ARRAY_TAKE(list, reallocarray(list, capacity, sizeof(*(list))))

/*
 * Evaluates to the index of the first of `count` items for which `is_before` (an expression of the
 * index `i`) is false; `count`: none. `is_before` must be true for all items before that one.
 */
#define ARRAY_PLACE(count, i, is_before)                                                           \
	({                                                                                         \
		size_t array_low = 0, array_high = (count);                                        \
		while (array_low < array_high) {                                                   \
			const size_t i = array_low + (array_high - array_low) / 2;                 \
			if (is_before)                                                             \
				array_low = i + 1;                                                 \
			else                                                                       \
				array_high = i;                                                    \
		}                                                                                  \
		array_low;                                                                         \
	})

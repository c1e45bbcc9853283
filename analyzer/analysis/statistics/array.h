/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - arrays that grow by one: their room is the power of two that their count fits in. So
 * none of their memory may come from elsewhere.
 */
#pragma once

#include <stdlib.h>

/* `list` with room for one more than `count` elements. NULL: no memory, and `list` is untouched. */
static inline void *array_grown(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : reallocarray(list, count ? 2 * count : 1, size);
}

/* Makes room for one more element in `list`. False: no memory. */
#define ARRAY_GROW(list, count)                                                                    \
	({                                                                                         \
		void *array_list = array_grown(list, count, sizeof(*(list)));                      \
		if (array_list)                                                                    \
			(list) = array_list;                                                       \
		array_list != NULL;                                                                \
	})

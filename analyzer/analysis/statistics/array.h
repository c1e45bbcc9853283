/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - arrays that grow by one element; their capacity is a power of two. */
#pragma once

#include <stdlib.h>

/* Returns `list` with room for one more element; NULL without memory: `list` then stays valid. */
static inline void *array_grown(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : reallocarray(list, count ? 2 * count : 1, size);
}

/* Makes room for one more element of `list`. Evaluates to false if there is no memory. */
#define ARRAY_GROW(list, count)                                                                    \
	({                                                                                         \
		void *array_list = array_grown(list, count, sizeof(*(list)));                      \
		if (array_list)                                                                    \
			(list) = array_list;                                                       \
		array_list != NULL;                                                                \
	})

/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - maps large tables at their first use, as most programs that load us use none. */
#pragma once

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/sys.h"

/* Returns the `size` bytes at *place, which the first call maps. NULL: there is no memory. */
static inline void *table_map(void *_Atomic *place, size_t size)
{
	void *found = atomic_load_explicit(place, memory_order_acquire), *fresh;

	if (likely(found))
		return found;
	fresh = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(fresh))
		return NULL;
	if (atomic_compare_exchange_strong(place, &found, fresh))
		return fresh;
	sys_munmap(fresh, size);
	return found;
}

/* Defines a function that returns a table of `count` entries. NULL: there is no memory for it. */
#define TABLE(type, name, count)                                                                   \
	static type *name(void)                                                                    \
	{                                                                                          \
		static void *_Atomic place;                                                        \
                                                                                                   \
		return table_map(&place, (count) * sizeof(type));                                  \
	}

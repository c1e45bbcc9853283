/* SPDX-License-Identifier: Apache-2.0 */
/* dl.c - what dlsym() returns in a process that records (dl.S). */
#include <string.h>

#include "base/sys.h"
#include "slots/got.h"
#include "slots/lookup.h"
#include "slots/pool.h"
#include "slots/wrap.h"

/* Does what the host's dlsym() does, but returns the wrapper of a function that has one. */
void *dl_lookup(void *handle, const char *name);
void *dl_lookup(void *handle, const char *name)
{
	void *found = lookup_next(handle, name);
	int row;

	if (!found)
		return NULL;
	if (unlikely(!got_knows(found))) {
		got_sweep();
		if (!got_knows(found))
			got_sweep_foreign(found);
	}
	if (unlikely(lookup_answer) && strncmp(name, "cupti", 5) == 0)
		return lookup_answer(name, found);
	row = wrap_row_of(name);
	if (likely(row < 0))
		return found;
	return pool_substitute(row, found);
}

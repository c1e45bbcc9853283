/* SPDX-License-Identifier: Apache-2.0 */
/* dl.c - what dlsym() answers in a process that records; dl.S has its entry. */
#include "base/sys.h"
#include "slots/got.h"
#include "slots/lookup.h"
#include "slots/pool.h"
#include "slots/wrap.h"

/* CUDA's own loaders ask for their functions again and again, and compare. */
static bool is_off_limits(const char *name)
{
	while (name[0] == '_')
		name++;
	return (name[0] == 'c' && name[1] == 'u') ||
	       (name[0] == 'n' && name[1] == 'v' && name[2] == 'm' && name[3] == 'l');
}

/*
 * From dl.S: this process records, and the handle is a real one. The answer is the host's, errno
 * and dlerror() too, but that a decoder is answered with its wrapper.
 */
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
	row = wrap_row_of(name);
	if (likely(row < 0) || is_off_limits(name))
		return found;
	return pool_substitute(row, found);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/dl.h"

#include <dlfcn.h>

#include "hooks/decode.h"
#include "hooks/got.h"
#include "hooks/hook.h"
#include "hooks/pool.h"
#include "sys.h"

void *(*dl_real)(void *handle, const char *name);
volatile uint32_t dl_closes;

/* A failing lookup would allocate, so the one that every glibc we run on has comes first. */
void dl_resolve(void)
{
#if defined(__x86_64__)
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};
#else
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17"};
#endif
	void *found = NULL;

	for (int i = 0; i < 2 && !found; i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	__atomic_store_n(&dl_real, (void *(*)(void *, const char *))found, __ATOMIC_RELEASE);
}

/* CUDA's own loaders ask for their functions again and again, and compare. */
static bool is_off_limits(const char *name)
{
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
	void *found = dl_real(handle, name);
	int row;

	if (!found)
		return NULL;
	if (unlikely(!got_knows(found))) {
		got_sweep();
		if (!got_knows(found))
			got_sweep_foreign(found);
	}
	row = decode_row_of(name);
	if (likely(row < 0) || is_off_limits(name))
		return found;
	return pool_substitute(row, found);
}

/* Before, for those who look meanwhile, and after: then it is gone, and something else may come. */
HOOK_EXPORT int dlclose(void *handle)
{
	int result;

	__atomic_fetch_add(&dl_closes, 1, __ATOMIC_RELAXED);
	result = real.dlclose(handle);
	__atomic_fetch_add(&dl_closes, 1, __ATOMIC_RELAXED);
	return result;
}

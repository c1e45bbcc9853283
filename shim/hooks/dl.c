/* SPDX-License-Identifier: Apache-2.0 */
#include "hooks/dl.h"

#include <dlfcn.h>

#include "hooks/decode.h"
#include "hooks/got.h"
#include "hooks/pool.h"
#include "sys.h"

void *(*dl_real)(void *handle, const char *name);
int (*dl_real_close)(void *handle);
volatile uint32_t dl_closes;

/* A failing lookup would allocate, so the one that every glibc we run on has comes first. */
void dl_resolve(void)
{
#if defined(__x86_64__)
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};
#else
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17"};
#endif
	void *real = NULL, *real_close = NULL;

	for (int i = 0; i < 2 && !real; i++)
		real = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	for (int i = 0; i < 2 && !real_close; i++)
		real_close = dlvsym(RTLD_NEXT, "dlclose", versions[i]);
	__atomic_store_n(&dl_real_close, (int (*)(void *))real_close, __ATOMIC_RELEASE);
	__atomic_store_n(&dl_real, (void *(*)(void *, const char *))real, __ATOMIC_RELEASE);
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

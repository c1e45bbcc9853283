/* SPDX-License-Identifier: Apache-2.0 */
#include "slots/dl.h"

#include <dlfcn.h>

#include "base/sys.h"
#include "decode/decode.h"
#include "hooks/hook.h"
#include "slots/elf.h"
#include "slots/got.h"
#include "slots/module.h"
#include "slots/pool.h"

void *(*dl_real)(void *handle, const char *name) NEAR = NULL;
void *(*dl_next)(void *handle, const char *name) NEAR = NULL;
volatile uint32_t dl_closes;
volatile uint32_t dl_closing;

/* Not in musl, whose loader ends a program that preloads something with a missing reference. */
#pragma weak dlvsym

/* dl.S: ours, whoever's `dlsym` is. */
extern const char dl_entry[] __attribute__((visibility("hidden")));

struct search {
	bool passed; /* this library, in the order in which names are looked up */
	void *found;
};

/* The first module behind this one that exports it. */
static int find_exported(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct elf_module elf;
	void *found;

	(void)size;
	if (elf_open(&elf, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
		return 0;
	found = elf_function(&elf, "dlsym", elf_hash("dlsym"));
	if (found == (void *)dl_entry)
		search->passed = true;
	else if (search->passed)
		search->found = found;
	return search->found != NULL;
}

/* The version that glibc's dlsym() has had from the begin: one that it has not would be a failed
 * lookup, which allocates. As of 2.34 it is there for old programs. */
#if defined(__x86_64__)
#define DLSYM_VERSION "GLIBC_2.2.5"
#else
#define DLSYM_VERSION "GLIBC_2.17"
#endif

void dl_resolve(void)
{
	struct search search = {.passed = false};
	void *found = NULL;

	if (dlvsym)
		found = dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION);
	if (!found) {
		dl_iterate_phdr(find_exported, &search);
		found = search.found;
	}
	__atomic_store_n(&dl_real, (void *(*)(void *, const char *))found, __ATOMIC_RELEASE);
	__atomic_store_n(&dl_next, (void *(*)(void *, const char *))found, __ATOMIC_RELEASE);
}

void dl_look_behind(void)
{
	struct search search = {.passed = false};

	dl_iterate_phdr(find_exported, &search);
	if (search.found)
		__atomic_store_n(&dl_next, (void *(*)(void *, const char *))search.found,
				 __ATOMIC_RELEASE);
}

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
	void *found = dl_next(handle, name);
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

HOOK_EXPORT int dlclose(void *handle)
{
	int result;

	__atomic_fetch_add(&dl_closing, 1, __ATOMIC_SEQ_CST);
	result = real.dlclose(handle);
	__atomic_fetch_add(&dl_closes, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_sub(&dl_closing, 1, __ATOMIC_SEQ_CST);
	return result;
}

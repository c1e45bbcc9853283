/* SPDX-License-Identifier: Apache-2.0 */
#include "slots/lookup.h"

#include <dlfcn.h>

#include "slots/elf.h"

void *(*lookup_real)(void *handle, const char *name) NEAR = NULL;
void *(*lookup_next)(void *handle, const char *name) NEAR = NULL;
void *(*lookup_answer)(const char *name, void *found);
volatile uint32_t lookup_closes;
volatile uint32_t lookup_closing;

/* musl lacks dlvsym(), and refuses to start with a missing reference. */
#pragma weak dlvsym

/* our own dlsym(), whatever `dlsym` is bound to */
extern const char dl_entry[] __attribute__((visibility("hidden")));

struct search {
	bool passed;
	void *found;
};

/* Finds the first module behind this one that exports dlsym(). */
static int find_exported(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct elf_module elf;
	void *found;

	if (elf_open(&elf, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
		return 0;
	found = elf_function(&elf, "dlsym", elf_hash("dlsym"));
	if (found == (void *)dl_entry)
		search->passed = true;
	else if (search->passed)
		search->found = found;
	return search->found != NULL;
}

/* Asks for a version that always exists, because a lookup that fails would allocate. */
#if defined(__x86_64__)
#define DLSYM_VERSION "GLIBC_2.2.5"
#else
#define DLSYM_VERSION "GLIBC_2.17"
#endif

void lookup_resolve(void)
{
	struct search search = {.passed = false};
	void *found = NULL;

	if (dlvsym)
		found = dlvsym(RTLD_NEXT, "dlsym", DLSYM_VERSION);
	if (!found) {
		dl_iterate_phdr(find_exported, &search);
		found = search.found;
	}
	__atomic_store_n(&lookup_real, (void *(*)(void *, const char *))found, __ATOMIC_RELEASE);
	__atomic_store_n(&lookup_next, (void *(*)(void *, const char *))found, __ATOMIC_RELEASE);
}

void lookup_look_behind(void)
{
	struct search search = {.passed = false};

	dl_iterate_phdr(find_exported, &search);
	if (search.found)
		__atomic_store_n(&lookup_next, (void *(*)(void *, const char *))search.found,
				 __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * next.c - finds the functions that the modules behind this one export, in ld.so's order.
 *
 * No function is found if ld.so's list may be incomplete: we were loaded after libc, there are too
 * many modules, or one has no GNU hash.
 */
#include "slots/next.h"

struct search {
	struct next_scope *scope;
	uintptr_t last;
	bool behind;
	bool complete;
};

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct elf_module self = {.base = info->dlpi_addr, .headers = info->dlpi_phdr,
				  .header_count = info->dlpi_phnum};
	struct search *search = data;
	struct next_scope *scope = search->scope;
	struct elf_module *module = &scope->modules[scope->count];

	if (!search->behind) {
		search->behind = elf_covers(&self, (uintptr_t)&add_module, 1, PF_X);
		return 0;
	}
	if (scope->count == NEXT_MODULE_MAX ||
	    elf_open(module, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
		return 1;
	scope->count++;
	search->complete = elf_covers(module, search->last, 1, PF_X);
	return search->complete;
}

void next_open(struct next_scope *scope, const void *last)
{
	struct search search = {.scope = scope, .last = (uintptr_t)last};

	scope->count = 0;
	dl_iterate_phdr(add_module, &search);
	if (!search.complete)
		scope->count = 0;
}

void *next_function(const struct next_scope *scope, const char *name)
{
	uint32_t hash = elf_hash(name);
	void *found = NULL;
	int r = 0;

	for (uint32_t i = 0; i < scope->count && !r; i++)
		r = elf_export(&scope->modules[i], name, hash, &found);
	return r > 0 ? found : NULL;
}

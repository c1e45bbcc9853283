/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - what one loaded module says about itself: its symbols, and the slots through which it
 * reaches those of others.
 *
 * Pure: reads memory that the module's own program headers call readable, and nothing else. What
 * does not lie in there is not there; a module that makes no sense is a module without symbols.
 */
#ifndef ELF_H
#define ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_RELOC_TABLES 3

struct elf_relocs {
	uintptr_t address;
	size_t count;
	size_t relative_count;	/* the first ones of them name no symbol */
	size_t entry_bytes;
	bool has_addend;
	bool jump;		/* the table of lazily bound slots */
};

struct elf_module {
	uintptr_t base;
	const ElfW(Phdr) *headers;
	size_t header_count;

	const ElfW(Sym) *symbols;
	uint32_t symbol_limit;	/* above it there is no memory, if not earlier the end */
	uint32_t import_limit;	/* what others define lies below it, but for some found by name */
	const char *strings;
	size_t strings_bytes;
	const char *soname;	/* or NULL */
	const uint16_t *versions; /* of the symbols below version_limit; NULL: they have none */
	uint32_t version_limit;
	bool filters;		/* another module is searched in its place */

	const uint32_t *buckets; /* of the GNU hash; NULL: look through all symbols */
	uint32_t bucket_count;
	const uint32_t *chains;
	uint32_t chain_limit;	/* symbol numbers that `chains` covers: [import_limit, this) */
	const ElfW(Addr) *bloom;
	uint32_t bloom_count;
	uint32_t bloom_shift;

	struct elf_relocs relocs[ELF_RELOC_TABLES];
};

/* A place that holds the address of symbol number `symbol`. */
struct elf_slot {
	uintptr_t address;
	uint32_t symbol;
	uint32_t number;	/* in its table */
	bool jump;		/* may be bound lazily */
};

/* Zero but for `mask`, which has bit `symbol % 64` for each symbol of interest; others may come. */
struct elf_cursor {
	uint64_t mask;
	size_t table;
	size_t at;
};

/* 0, or -ENOEXEC: nothing to be found in there. */
int elf_open(struct elf_module *module, uintptr_t base, const ElfW(Phdr) *headers, size_t count);

/* [address, address + size) lies within one loadable part that has all of `flags` (PF_R...). */
bool elf_covers(const struct elf_module *module, uintptr_t address, size_t size, uint32_t flags);

/* Terminated, within the module; NULL: there is no such symbol. */
const char *elf_name(const struct elf_module *module, uint32_t symbol);

/* The module neither defines it nor has it as its own. */
bool elf_is_import(const struct elf_module *module, uint32_t symbol);

/* The hash that elf_find() wants. */
uint32_t elf_hash(const char *name);

/* The number of the symbol of this name, 0: none (it may still be an import). */
uint32_t elf_find(const struct elf_module *module, const char *name, uint32_t hash);

/* The address of a function that the module defines and exports, or NULL. */
void *elf_function(const struct elf_module *module, const char *name, uint32_t hash);

/*
 * What dlsym() would find in this module: its function in the default version. 1; 0: it has none;
 * -ENOSYS: only dlsym() can tell.
 */
int elf_export(const struct elf_module *module, const char *name, uint32_t hash,
	       void **ret_function);

/* False: that was all. */
bool elf_next_slot(const struct elf_module *module, struct elf_cursor *cursor,
		   struct elf_slot *slot);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - reads a loaded module: its symbols, and the slots (GOT entries) through which it calls
 * other modules.
 *
 * Only memory that the module's own program headers call readable is read. A table elsewhere is
 * treated as missing, and an invalid module as one without symbols.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_RELOC_TABLES 3

struct elf_relocs {
	uintptr_t address;
	size_t count;
	size_t relative_count; /* number of first relocations, which name no symbol */
	size_t entry_bytes;
	bool has_addend;
	bool jump;		/* the table is that of lazily bound slots (DT_JMPREL) */
};

struct elf_module {
	uintptr_t base;
	const ElfW(Phdr) *headers;
	size_t header_count;

	const ElfW(Sym) *symbols;
	uint32_t symbol_limit; /* number of symbols is at most this: no memory follows */
	uint32_t import_limit; /* symbols below are imports; a few others only elf_find() finds */
	const char *strings;
	size_t strings_bytes;
	const char *soname;	/* the library's name, or NULL */
	const uint16_t *versions; /* versions of the symbols below version_limit, or NULL */
	uint32_t version_limit;
	bool filters; /* DT_FILTER: ld.so searches another module in place of this one */

	const uint32_t *buckets; /* buckets of the GNU hash; NULL: search all symbols */
	uint32_t bucket_count;
	const uint32_t *chains;
	uint32_t chain_limit;	/* `chains` covers symbols [import_limit, chain_limit) */
	const ElfW(Addr) *bloom;
	uint32_t bloom_count;
	uint32_t bloom_shift;

	struct elf_relocs relocs[ELF_RELOC_TABLES];
};

/* A slot: a place that holds the address of symbol number `symbol`. */
struct elf_slot {
	uintptr_t address;
	uint32_t symbol;
	uint32_t number;	/* number of the slot in its table */
	bool jump;		/* the slot may be bound lazily */
};

#define ELF_MASK_WORDS 16

/* A search for slots. All zero at first; elf_want() adds symbols. It may also find a few others. */
struct elf_cursor {
	uint64_t mask[ELF_MASK_WORDS];
	size_t table;
	size_t at;
};

/* Reads a module's tables. Returns 0, or -ENOEXEC if it has no readable symbols. */
int elf_open(struct elf_module *module, uintptr_t base, const ElfW(Phdr) *headers, size_t count);

/* Returns true if one loadable part with all of `flags` (PF_R...) has [address, address + size). */
bool elf_covers(const struct elf_module *module, uintptr_t address, size_t size, uint32_t flags);

/* Returns a symbol's name, which is ended by a zero, or NULL if there is no such symbol. */
static inline const char *elf_name(const struct elf_module *module, uint32_t symbol)
{
	size_t at;

	if (symbol >= module->symbol_limit)
		return NULL;
	at = module->symbols[symbol].st_name;
	return at < module->strings_bytes ? module->strings + at : NULL;
}

/* Returns true if the module uses this symbol but does not define it. */
static inline bool elf_is_import(const struct elf_module *module, uint32_t symbol)
{
	return symbol < module->symbol_limit && module->symbols[symbol].st_shndx == SHN_UNDEF;
}

/* Returns the hash of a name, for elf_find(). */
uint32_t elf_hash(const char *name);

/* Returns the number of the symbol with this name, which may be an import; 0 if none has it. */
uint32_t elf_find(const struct elf_module *module, const char *name, uint32_t hash);

/* Returns the function that the module defines and exports, or NULL. */
void *elf_function(const struct elf_module *module, const char *name, uint32_t hash);

/*
 * Finds what dlsym() would find in this module: a function in its default version. Returns 1; 0 if
 * there is none; -ENOSYS if only dlsym() can tell.
 */
int elf_export(const struct elf_module *module, const char *name, uint32_t hash,
	       void **ret_function);

static inline void elf_want(struct elf_cursor *cursor, uint32_t symbol)
{
	cursor->mask[symbol / 64 % ELF_MASK_WORDS] |= UINT64_C(1) << symbol % 64;
}

/* Finds the next slot. Returns false if there are no more. */
bool elf_next_slot(const struct elf_module *module, struct elf_cursor *cursor,
		   struct elf_slot *slot);

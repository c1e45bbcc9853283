/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - reads a loaded module's symbols, and the slots (GOT entries) by which it calls others.
 *
 * A table outside of readable parts counts as missing.
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
	size_t relative_count; /* number of relocations without symbols, which come first */
	size_t entry_bytes;
	bool has_addend;
	bool jump;		/* true: the table of lazily bound slots (DT_JMPREL) */
};

struct elf_module {
	uintptr_t base;
	const ElfW(Phdr) *headers;
	size_t header_count;

	const ElfW(Sym) *symbols;
	uint32_t symbol_limit; /* all symbols have lower numbers than this */
	uint32_t import_limit; /* no import has this number or a higher one */
	const char *strings;
	size_t strings_bytes;
	const char *soname;
	const uint16_t *versions; /* versions of the symbols below version_limit, or NULL */
	uint32_t version_limit;
	bool filters; /* DT_FILTER: ld.so searches another module instead */

	const uint32_t *buckets; /* NULL: search all symbols */
	uint32_t bucket_count;
	const uint32_t *chains;
	uint32_t chain_limit;	/* end of the symbols that have `chains` */
	const ElfW(Addr) *bloom;
	uint32_t bloom_count;
	uint32_t bloom_shift;

	struct elf_relocs relocs[ELF_RELOC_TABLES];
};

/* A place that holds the address of symbol number `symbol`. */
struct elf_slot {
	uintptr_t address;
	uint32_t symbol;
	uint32_t number;
	bool jump;		/* may be bound lazily */
};

#define ELF_MASK_WORDS 16

/* A search for slots. Set it to 0, then call elf_want() for each symbol. May find other slots. */
struct elf_cursor {
	uint64_t mask[ELF_MASK_WORDS];
	size_t table;
	size_t at;
};

/* Returns 0, or -ENOEXEC if the module has no readable symbols. */
int elf_open(struct elf_module *module, uintptr_t base, const ElfW(Phdr) *headers, size_t count);

/* Returns true if one loaded part with all of `flags` (PF_R...) has the whole range. */
bool elf_covers(const struct elf_module *module, uintptr_t address, size_t size, uint32_t flags);

/* Returns the symbol's name, or NULL if there is no such symbol. */
static inline const char *elf_name(const struct elf_module *module, uint32_t symbol)
{
	size_t at;

	if (symbol >= module->symbol_limit)
		return NULL;
	at = module->symbols[symbol].st_name;
	return at < module->strings_bytes ? module->strings + at : NULL;
}

static inline bool elf_is_import(const struct elf_module *module, uint32_t symbol)
{
	return symbol < module->symbol_limit && module->symbols[symbol].st_shndx == SHN_UNDEF;
}

uint32_t elf_hash(const char *name);

/* Returns the number of a symbol, maybe an import; 0 if there is none. */
uint32_t elf_find(const struct elf_module *module, const char *name, uint32_t hash);

void *elf_function(const struct elf_module *module, const char *name, uint32_t hash);

/* Finds what dlsym() would. Returns 1; 0: nothing to find; -ENOSYS: only dlsym() can tell. */
int elf_export(const struct elf_module *module, const char *name, uint32_t hash,
	       void **ret_function);

static inline void elf_want(struct elf_cursor *cursor, uint32_t symbol)
{
	cursor->mask[symbol / 64 % ELF_MASK_WORDS] |= UINT64_C(1) << symbol % 64;
}

bool elf_next_slot(const struct elf_module *module, struct elf_cursor *cursor,
		   struct elf_slot *slot);

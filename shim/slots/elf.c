/* SPDX-License-Identifier: Apache-2.0 */
#include "slots/elf.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

#if defined(__x86_64__)
#define RELOC_JUMP R_X86_64_JUMP_SLOT
#define RELOC_SLOT R_X86_64_GLOB_DAT
#define RELOC_WORD R_X86_64_64
#elif defined(__aarch64__)
#define RELOC_JUMP R_AARCH64_JUMP_SLOT
#define RELOC_SLOT R_AARCH64_GLOB_DAT
#define RELOC_WORD R_AARCH64_ABS64
#else
#error "which relocations name a function here?"
#endif

static uintptr_t end_of_part(const struct elf_module *module, uintptr_t address, uint32_t flags)
{
	for (size_t i = 0; i < module->header_count; i++) {
		const ElfW(Phdr) *header = &module->headers[i];
		uintptr_t begin, end;

		if (header->p_type != PT_LOAD || (header->p_flags & flags) != flags)
			continue;
		if (__builtin_add_overflow(module->base, header->p_vaddr, &begin) ||
		    __builtin_add_overflow(begin, header->p_memsz, &end))
			continue;
		if (address >= begin && address < end)
			return end;
	}
	return 0;
}

bool elf_covers(const struct elf_module *module, uintptr_t address, size_t size, uint32_t flags)
{
	uintptr_t end = end_of_part(module, address, flags);

	return end && size <= end - address;
}

/* Returns how many items of `size` follow in the segment; 0 if `address` is not aligned. */
static size_t room_for(const struct elf_module *module, uintptr_t address, size_t size,
		       size_t alignment)
{
	uintptr_t end = end_of_part(module, address, PF_R);

	return end && address % alignment == 0 ? (end - address) / size : 0;
}

/* Returns a pointer of the dynamic section. If the section is writable, ld.so added the base. */
static uintptr_t pointer_in(const struct elf_module *module, ElfW(Addr) value)
{
	if (end_of_part(module, value, PF_R))
		return value;
	return module->base + value;
}

static void take_gnu_hash(struct elf_module *module, uintptr_t at)
{
	size_t room = room_for(module, at, 4, 8), words = sizeof(ElfW(Addr)) / 4;
	const uint32_t *table = (const uint32_t *)at;
	uint32_t bucket_count, bloom_count;

	if (room < 4)
		return;
	bucket_count = table[0];
	bloom_count = table[2];
	/* The size must be a power of 2, as the filter is indexed by masking. */
	if (!bucket_count || !bloom_count || (bloom_count & (bloom_count - 1)) ||
	    bloom_count > (room - 4) / words || bucket_count > room - 4 - bloom_count * words ||
	    table[1] > module->symbol_limit)
		return;
	room -= 4 + bloom_count * words + bucket_count;
	module->import_limit = table[1];
	module->bloom_count = bloom_count;
	module->bloom_shift = table[3] % 32;
	module->bloom = (const ElfW(Addr) *)(table + 4);
	module->bucket_count = bucket_count;
	module->buckets = table + 4 + bloom_count * words;
	module->chains = module->buckets + bucket_count;
	module->chain_limit = module->symbol_limit;
	if (module->chain_limit - table[1] > room)
		module->chain_limit = table[1] + (uint32_t)room;
}

/* The hash table has one chain entry for each symbol. */
static void take_hash(struct elf_module *module, uintptr_t at)
{
	const uint32_t *table = (const uint32_t *)at;

	if (room_for(module, at, 4, 4) >= 2 && table[1] < module->symbol_limit)
		module->symbol_limit = module->import_limit = table[1];
}

static void take_relocs(struct elf_module *module, struct elf_relocs *relocs, uintptr_t address,
			size_t bytes, bool has_addend)
{
	size_t room;

	relocs->has_addend = has_addend;
	relocs->entry_bytes = has_addend ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
	room = room_for(module, address, relocs->entry_bytes, sizeof(ElfW(Addr)));
	relocs->address = address;
	relocs->count = bytes / relocs->entry_bytes;
	if (relocs->count > room)
		relocs->count = room;
}

static const ElfW(Rel) * reloc_at(const struct elf_relocs *relocs, size_t at)
{
	return (const ElfW(Rel) *)(relocs->address + at * relocs->entry_bytes);
}

static uint32_t symbol_of(const struct elf_relocs *relocs, size_t at)
{
	return (uint32_t)ELF64_R_SYM(reloc_at(relocs, at)->r_info);
}

static const ElfW(Dyn) * find_dynamic(const struct elf_module *module, size_t *ret_room)
{
	for (size_t i = 0; i < module->header_count; i++) {
		uintptr_t address = module->base + module->headers[i].p_vaddr;

		if (module->headers[i].p_type != PT_DYNAMIC)
			continue;
		*ret_room = room_for(module, address, sizeof(ElfW(Dyn)), sizeof(ElfW(Addr)));
		return (const ElfW(Dyn) *)address;
	}
	return NULL;
}

static void take_versions(struct elf_module *module, uintptr_t at)
{
	size_t room = room_for(module, at, 2, 2);

	module->versions = (const uint16_t *)at;
	module->version_limit = room < module->symbol_limit ? (uint32_t)room : module->symbol_limit;
}

struct more {
	ElfW(Addr) gnu_hash, versions, relative_count;
	bool filters;
};

static bool read_dynamic(const struct elf_module *module, ElfW(Addr) values[DT_NUM],
			 uint64_t *ret_seen, struct more *ret_more)
{
	size_t room = 0;
	const ElfW(Dyn) *entry = find_dynamic(module, &room);

	if (!entry)
		return false;
	for (; room && entry->d_tag != DT_NULL; room--, entry++) {
		if (entry->d_tag == DT_GNU_HASH)
			ret_more->gnu_hash = entry->d_un.d_ptr;
		if (entry->d_tag == DT_VERSYM)
			ret_more->versions = entry->d_un.d_ptr;
		if (entry->d_tag == DT_RELACOUNT)
			ret_more->relative_count = entry->d_un.d_val;
		ret_more->filters |= entry->d_tag == DT_FILTER || entry->d_tag == DT_AUXILIARY;
		if (entry->d_tag <= 0 || entry->d_tag >= DT_NUM)
			continue;
		values[entry->d_tag] = entry->d_un.d_val;
		*ret_seen |= UINT64_C(1) << entry->d_tag;
	}
	return true;
}

/* If a module has no exports, its hash table does not tell where imports end. Relocations do. */
static void mend_import_limit(struct elf_module *module)
{
	for (uint32_t i = 0; i < module->bucket_count; i++)
		if (module->buckets[i])
			return;
	for (int table = 0; table < ELF_RELOC_TABLES; table++) {
		const struct elf_relocs *relocs = &module->relocs[table];

		for (size_t at = 0; at < relocs->count; at++) {
			uint32_t symbol = symbol_of(relocs, at);

			if (symbol >= module->import_limit && symbol < module->symbol_limit)
				module->import_limit = symbol + 1;
		}
	}
}

int elf_open(struct elf_module *module, uintptr_t base, const ElfW(Phdr) * headers, size_t count)
{
	ElfW(Addr) values[DT_NUM] = {0};
	struct more more = {0};
	uint64_t seen = 0;
	uintptr_t strings;
	size_t room;

	static_assert(DT_NUM < 64, "a bit each");
	memset(module, 0, sizeof(*module));
	module->base = base;
	module->headers = headers;
	module->header_count = count;
#define SEEN(tag) (seen & UINT64_C(1) << (tag))
	if (!read_dynamic(module, values, &seen, &more) || !SEEN(DT_SYMTAB) || !SEEN(DT_STRTAB))
		return -ENOEXEC;
	strings = pointer_in(module, values[DT_STRTAB]);
	room = room_for(module, strings, 1, 1);
	module->strings = (const char *)strings;
	module->strings_bytes = values[DT_STRSZ] < room ? values[DT_STRSZ] : room;
	module->symbols = (const ElfW(Sym) *)pointer_in(module, values[DT_SYMTAB]);
	room = room_for(module, (uintptr_t)module->symbols, sizeof(ElfW(Sym)), sizeof(ElfW(Addr)));
	module->symbol_limit = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
	/* A string table that ends in a zero ends every name. */
	while (module->strings_bytes && module->strings[module->strings_bytes - 1])
		module->strings_bytes--;
	if (!module->strings_bytes || !module->symbol_limit)
		return -ENOEXEC;
	if (SEEN(DT_HASH))
		take_hash(module, pointer_in(module, values[DT_HASH]));
	if (more.gnu_hash)
		take_gnu_hash(module, pointer_in(module, more.gnu_hash));
	if (more.versions)
		take_versions(module, pointer_in(module, more.versions));
	module->filters = more.filters;
	if (SEEN(DT_SONAME) && values[DT_SONAME] < module->strings_bytes)
		module->soname = module->strings + values[DT_SONAME];
	module->relocs[0].jump = true;
	if (SEEN(DT_JMPREL))
		take_relocs(module, &module->relocs[0], pointer_in(module, values[DT_JMPREL]),
			    values[DT_PLTRELSZ], values[DT_PLTREL] == DT_RELA);
	if (SEEN(DT_RELA))
		take_relocs(module, &module->relocs[1], pointer_in(module, values[DT_RELA]),
			    values[DT_RELASZ], true);
	module->relocs[1].relative_count = more.relative_count;
	if (SEEN(DT_REL))
		take_relocs(module, &module->relocs[2], pointer_in(module, values[DT_REL]),
			    values[DT_RELSZ], false);
	mend_import_limit(module);
#undef SEEN
	return 0;
}

uint32_t elf_hash(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

static bool is_called(const struct elf_module *module, uint32_t symbol, const char *name)
{
	const char *own = elf_name(module, symbol);

	return own && strcmp(own, name) == 0;
}

static uint32_t chain_of(const struct elf_module *module, uint32_t hash)
{
	const uint32_t bits = 8 * sizeof(ElfW(Addr));
	ElfW(Addr) word = module->bloom[hash / bits & (module->bloom_count - 1)];
	uint32_t symbol;

	if (!(word >> hash % bits & 1) || !(word >> (hash >> module->bloom_shift) % bits & 1))
		return 0;
	symbol = module->buckets[hash % module->bucket_count];
	return symbol < module->import_limit || symbol >= module->chain_limit ? 0 : symbol;
}

static uint32_t next_in_chain(const struct elf_module *module, uint32_t symbol)
{
	if (module->chains[symbol - module->import_limit] & 1 || symbol + 1 >= module->chain_limit)
		return 0;
	return symbol + 1;
}

/* Returns the first match in the chain from `symbol` on, or 0. */
static uint32_t find_hashed(const struct elf_module *module, uint32_t symbol, const char *name,
			    uint32_t hash)
{
	while (symbol && ((module->chains[symbol - module->import_limit] | 1) != (hash | 1) ||
			  !is_called(module, symbol, name)))
		symbol = next_in_chain(module, symbol);
	return symbol;
}

uint32_t elf_find(const struct elf_module *module, const char *name, uint32_t hash)
{
	if (module->buckets)
		return find_hashed(module, chain_of(module, hash), name, hash);
	for (uint32_t symbol = 1; symbol < module->import_limit; symbol++)
		if (is_called(module, symbol, name))
			return symbol;
	return 0;
}

void *elf_function(const struct elf_module *module, const char *name, uint32_t hash)
{
	uint32_t symbol = elf_find(module, name, hash);
	uintptr_t address;

	/* The address of an indirect function would be that of its resolver. */
	if (!symbol || elf_is_import(module, symbol) ||
	    (module->symbols[symbol].st_info & 15) != STT_FUNC)
		return NULL;
	address = module->base + module->symbols[symbol].st_value;
	return elf_covers(module, address, 1, PF_X) ? (void *)address : NULL;
}

static bool is_default(const struct elf_module *module, uint32_t symbol)
{
	const uint16_t hidden = 0x8000;

	return !module->versions ||
	       (symbol < module->version_limit && module->versions[symbol] != VER_NDX_LOCAL &&
		!(module->versions[symbol] & hidden));
}

int elf_export(const struct elf_module *module, const char *name, uint32_t hash,
	       void **ret_function)
{
	const ElfW(Sym) *found;
	uintptr_t address;
	uint32_t first, symbol;

	if (!module->buckets || module->filters)
		return -ENOSYS;
	first = symbol = elf_find(module, name, hash);
	while (symbol && !is_default(module, symbol))
		symbol = find_hashed(module, next_in_chain(module, symbol), name, hash);
	if (!symbol)
		return first ? -ENOSYS : 0;
	found = &module->symbols[symbol];
	address = module->base + found->st_value;
	/* Data does not count, nor STT_GNU_IFUNC, which has to be called. */
	if ((ELF64_ST_BIND(found->st_info) != STB_GLOBAL &&
	     ELF64_ST_BIND(found->st_info) != STB_WEAK) ||
	    ELF64_ST_TYPE(found->st_info) != STT_FUNC || found->st_shndx == SHN_UNDEF ||
	    !found->st_value || !elf_covers(module, address, 1, PF_X))
		return -ENOSYS;
	*ret_function = (void *)address;
	return 1;
}

static bool read_slot(const struct elf_module *module, const struct elf_relocs *relocs, size_t at,
		      const uint64_t *mask, struct elf_slot *slot)
{
	const ElfW(Rel) *reloc = reloc_at(relocs, at);
	uint32_t type = (uint32_t)ELF64_R_TYPE(reloc->r_info);

	slot->symbol = symbol_of(relocs, at);
	if (!(mask[slot->symbol / 64 % ELF_MASK_WORDS] >> slot->symbol % 64 & 1))
		return false;
	if (type != RELOC_JUMP && type != RELOC_SLOT && type != RELOC_WORD)
		return false;
	if (type != RELOC_JUMP && relocs->has_addend && ((const ElfW(Rela) *)reloc)->r_addend != 0)
		return false;
	slot->address = module->base + reloc->r_offset;
	slot->number = (uint32_t)at;
	slot->jump = relocs->jump && type == RELOC_JUMP;
	return slot->symbol && slot->address % sizeof(void *) == 0 &&
	       elf_covers(module, slot->address, sizeof(void *), PF_R | PF_W);
}

bool elf_next_slot(const struct elf_module *module, struct elf_cursor *cursor,
		   struct elf_slot *slot)
{
	for (; cursor->table < ELF_RELOC_TABLES; cursor->table++, cursor->at = 0) {
		const struct elf_relocs *relocs = &module->relocs[cursor->table];

		if (cursor->at < relocs->relative_count)
			cursor->at = relocs->relative_count;
		while (cursor->at < relocs->count)
			if (read_slot(module, relocs, cursor->at++, cursor->mask, slot))
				return true;
	}
	return false;
}

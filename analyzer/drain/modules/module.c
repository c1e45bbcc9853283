/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/statistics/array.h"
#include "dlprof/hash.h"
#include "dlprof/units.h"
#include "drain/base/now.h"
#include "drain/modules/elf.h"
#include "drain/modules/maps.h"

#define HEADER_MAX	64
#define SYMBOLS_MAX	(64 << 20)
#define SYMBOLS_AT_ONCE 2048
#define SYMBOL_BYTES	120
#define KNOWN_COUNT	512
#define PAGE_BYTES	((size_t)4096)
#define PAGE_BITS	6
#define KEPT_COUNT	32 /* number of lists in the cache; those used last are kept */
#define LIST_NS		UINT64_C(15000000000)

/* .eh_frame_hdr is read only with these encodings, which every linker uses. */
#define EH_FRAME_POINTER 0x1b /* encoding of .eh_frame: relative to the field, 4 bytes */
#define EH_COUNT	 0x03 /* encoding of the table's length: a number of 4 bytes */
#define EH_TABLE	 0x3b /* encoding of the table: relative to the header, 4 bytes */

/* A small cache of pages: words that are read are scattered over a file. */
static struct page {
	uint64_t id, number;
	size_t size; /* 0: unused */
	uint8_t bytes[PAGE_BYTES];
} pages[1 << PAGE_BITS];

/* the file opened last; fd -1: it could not be opened */
static struct {
	bool known;
	uint64_t device, inode;
	int fd;
} file;

void module_close_file(void)
{
	if (file.known && file.fd >= 0)
		close(file.fd);
	file.known = false;
}

static int open_file(const struct maps_line *of)
{
	if (file.known && file.inode == of->inode && file.device == of->device)
		return file.fd;
	module_close_file();
	file.known = true;
	file.device = of->device;
	file.inode = of->inode;
	file.fd = maps_open(of->path, of->device, of->inode);
	return file.fd;
}

static ssize_t read_at(const struct maps_line *of, uint64_t offset, void *bytes, size_t size)
{
	int fd = open_file(of);

	return fd < 0 ? -1 : pread(fd, bytes, size, (off_t)offset);
}

/* Returns a number for the mapped file. */
static uint64_t file_id(const struct maps_line *of)
{
	return hash_word(0, of->device) ^ of->inode;
}

static const struct page *page_of(const struct maps_line *of, uint64_t number)
{
	uint64_t id = file_id(of);
	struct page *page = &pages[hash_word(id, number) >> (64 - PAGE_BITS)];
	ssize_t got;

	if (page->size && page->id == id && page->number == number)
		return page;
	got = read_at(of, number * PAGE_BYTES, page->bytes, PAGE_BYTES);
	page->id = id;
	page->number = number;
	page->size = got > 0 ? (size_t)got : 0;
	return page;
}

bool module_read_file(const struct maps_line *of, uint64_t offset, void *bytes, size_t size)
{
	if (offset > INT64_MAX - PAGE_BYTES || size > INT64_MAX - PAGE_BYTES - offset)
		return false;
	if (size > PAGE_BYTES)
		return read_at(of, offset, bytes, size) == (ssize_t)size;
	while (size) {
		const struct page *page = page_of(of, offset / PAGE_BYTES);
		size_t at = offset % PAGE_BYTES;
		size_t some = size < PAGE_BYTES - at ? size : PAGE_BYTES - at;

		if (page->size < at + some)
			return false;
		memcpy(bytes, page->bytes + at, some);
		bytes = (uint8_t *)bytes + some;
		offset += some;
		size -= some;
	}
	return true;
}

struct modules {
	int32_t pid;
	uint64_t begun_ns, listed_ns;
	uint64_t generation;
	/* The list owns the paths. Mappings of one file that follow one another share a path. */
	struct maps_line *mappings;
	size_t count;
	const struct maps_line *last; /* the mapping that was found last */
};

static int add_mapping(void *context, const struct maps_line *line)
{
	struct modules *modules = context;
	const struct maps_line *last;
	const char *path;

	if (!ARRAY_GROW(modules->mappings, modules->count))
		return -ENOMEM;
	last = modules->count ? &modules->mappings[modules->count - 1] : NULL;
	path = last && strcmp(last->path, line->path) == 0 ? last->path : strdup(line->path);
	if (!path)
		return -ENOMEM;
	modules->mappings[modules->count] = *line;
	modules->mappings[modules->count++].path = path;
	return 0;
}

static void forget(struct modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		if (!i || modules->mappings[i].path != modules->mappings[i - 1].path)
			free((char *)modules->mappings[i].path);
	free(modules->mappings);
	modules->mappings = NULL;
	modules->last = NULL;
	modules->count = 0;
}

struct modules *modules_open(int32_t pid)
{
	struct modules *modules = calloc(1, sizeof(*modules));

	if (!modules)
		return NULL;
	modules->pid = pid;
	return modules;
}

static bool are_same(const struct modules *one, const struct modules *other)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		const struct maps_line *a = &one->mappings[i], *b = &other->mappings[i];

		if (a->begin != b->begin || a->end != b->end || a->offset != b->offset ||
		    a->inode != b->inode || a->device != b->device)
			return false;
		if ((!i || a->path != a[-1].path) && strcmp(a->path, b->path) != 0)
			return false;
	}
	return true;
}

bool modules_update(struct modules *modules, uint64_t now_ns)
{
	static uint64_t generation;
	struct modules now = {.pid = modules->pid,
			      .begun_ns = modules->count ? modules->begun_ns : now_ns,
			      .listed_ns = now_ns,
			      .generation = modules->generation};

	if (modules->count &&
	    now_ns - modules->listed_ns <
		    within(LIST_NS, UINT64_MAX, modules->listed_ns - modules->begun_ns))
		return true;
	if (maps_each(modules->pid, add_mapping, &now) < 0 || !now.count)
		forget(&now);
	else if (!are_same(&now, modules))
		now.generation = ++generation;
	forget(modules);
	*modules = now;
	return modules->count;
}

uint64_t modules_generation(const struct modules *modules)
{
	return modules->generation;
}

bool modules_get(const struct modules *modules, size_t number, struct maps_line *ret)
{
	if (number >= modules->count)
		return false;
	*ret = modules->mappings[number];
	return true;
}

void modules_close(struct modules *modules)
{
	if (!modules)
		return;
	forget(modules);
	free(modules);
}

struct modules *modules_of(int32_t pid)
{
	static struct kept {
		uint64_t image, used;
		struct modules *modules;
	} kept[KEPT_COUNT];
	static uint64_t uses;
	const uint64_t image = pid ? maps_image(pid) : 0;
	struct kept *at = kept;

	if (!image)
		return NULL;
	for (size_t i = 0; i < KEPT_COUNT && at->image != image; i++)
		if (kept[i].image == image || kept[i].used < at->used)
			at = &kept[i];
	if (at->image != image) {
		modules_close(at->modules);
		*at = (struct kept){.image = image, .modules = modules_open(pid)};
	}
	at->used = ++uses;
	if (at->modules)
		at->modules->pid = pid;
	return at->modules;
}

static const struct maps_line *find(struct modules *modules, uint64_t address)
{
	size_t at;

	if (modules->last && address - modules->last->begin <
				     modules->last->end - modules->last->begin)
		return modules->last;
	/* Unwinding a stack searches thousands of times, so the search is binary. */
	at = ARRAY_PLACE(modules->count, i, modules->mappings[i].end <= address);
	if (at == modules->count || modules->mappings[at].begin > address)
		return NULL;
	modules->last = &modules->mappings[at];
	return modules->last;
}

bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size)
{
	const struct maps_line *mapping = find(modules, address);

	return mapping && size <= mapping->end - address &&
	       module_read_file(mapping, address - mapping->begin + mapping->offset, bytes, size);
}

/* Returns the number of headers. *ret_bias: address in the process minus address in the file. */
static size_t read_headers(const struct maps_line *mapping, Elf64_Phdr headers[HEADER_MAX],
			   uint64_t *ret_bias)
{
	Elf64_Ehdr file;

	if (!module_read_file(mapping, 0, &file, sizeof(file)) ||
	    !elf_is_readable(&file) || file.e_phentsize != sizeof(Elf64_Phdr) || !file.e_phnum ||
	    file.e_phnum > HEADER_MAX ||
	    !module_read_file(mapping, file.e_phoff, headers, file.e_phnum * sizeof(Elf64_Phdr)))
		return 0;
	for (size_t i = 0; i < file.e_phnum; i++) {
		const Elf64_Phdr *header = &headers[i];

		if (header->p_type != PT_LOAD || mapping->offset + 4096 <= header->p_offset ||
		    mapping->offset >= header->p_offset + header->p_filesz)
			continue;
		*ret_bias = mapping->begin - mapping->offset + header->p_offset - header->p_vaddr;
		return file.e_phnum;
	}
	return 0;
}

bool module_find_table(struct modules *modules, uint64_t address, struct module_table *ret_table)
{
	const struct maps_line *mapping = find(modules, address);
	Elf64_Phdr headers[HEADER_MAX];
	uint64_t bias = 0;
	size_t count = mapping ? read_headers(mapping, headers, &bias) : 0;

	for (size_t i = 0; i < count; i++) {
		struct {
			uint8_t version, pointer, count, table;
			int32_t frame;
			uint32_t entry_count;
		} start;

		if (headers[i].p_type != PT_GNU_EH_FRAME)
			continue;
		if (!module_read_file(mapping, headers[i].p_offset, &start, sizeof(start)) ||
		    start.version != 1 || start.pointer != EH_FRAME_POINTER ||
		    start.count != EH_COUNT || start.table != EH_TABLE)
			return false;
		*ret_table = (struct module_table){
			.begin = mapping->begin,
			.end = mapping->end,
			.header = bias + headers[i].p_vaddr,
			.entries = bias + headers[i].p_vaddr + sizeof(start),
			.entry_count = start.entry_count,
		};
		return true;
	}
	return false;
}

static bool search_symbols(const struct maps_line *mapping,
			   const Elf64_Shdr *table, uint64_t value, Elf64_Sym *best)
{
	static Elf64_Sym symbols[SYMBOLS_AT_ONCE];
	size_t count = table->sh_size / sizeof(*symbols), some;
	bool found = false;

	for (size_t at = 0; at < count; at += some) {
		some = count - at < SYMBOLS_AT_ONCE ? count - at : SYMBOLS_AT_ONCE;
		if (!module_read_file(mapping, table->sh_offset + at * sizeof(*symbols), symbols,
			       some * sizeof(*symbols)))
			return false;
		for (size_t i = 0; i < some; i++) {
			const Elf64_Sym *symbol = &symbols[i];

			if (value - symbol->st_value >= symbol->st_size ||
			    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
			    (found && symbol->st_value <= best->st_value))
				continue;
			*best = *symbol;
			found = true;
		}
	}
	return found;
}

static bool name_in_table(const struct maps_line *mapping,
			  const Elf64_Shdr *table, const Elf64_Shdr *strings, uint64_t value,
			  char *name, size_t size)
{
	char text[SYMBOL_BYTES - 20];
	Elf64_Sym symbol;
	uint64_t room;

	if (table->sh_size > SYMBOLS_MAX || table->sh_offset > INT64_MAX - SYMBOLS_MAX ||
	    !search_symbols(mapping, table, value, &symbol) ||
	    symbol.st_name >= strings->sh_size)
		return false;
	room = strings->sh_size - symbol.st_name;
	if (room > sizeof(text) - 1)
		room = sizeof(text) - 1;
	if (strings->sh_offset > (uint64_t)INT64_MAX - symbol.st_name ||
	    !module_read_file(mapping, strings->sh_offset + symbol.st_name, text, room))
		return false;
	text[room] = '\0';
	snprintf(name, size, "%s+0x%" PRIx64, text, value - symbol.st_value);
	return true;
}

static bool find_symbol(const struct maps_line *mapping, uint64_t value,
			char *name, size_t size)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	Elf64_Shdr sections[HEADER_MAX];
	Elf64_Ehdr file;

	if (!module_read_file(mapping, 0, &file, sizeof(file)) ||
	    file.e_shentsize != sizeof(Elf64_Shdr) || !file.e_shnum || file.e_shnum > HEADER_MAX ||
	    !module_read_file(mapping, file.e_shoff, sections, file.e_shnum * sizeof(Elf64_Shdr)))
		return false;
	for (size_t k = 0; k < ARRAY_COUNT(types); k++)
		for (size_t i = 0; i < file.e_shnum; i++)
			if (sections[i].sh_type == types[k] && sections[i].sh_link < file.e_shnum &&
			    name_in_table(mapping, &sections[i],
					  &sections[sections[i].sh_link], value, name, size))
				return true;
	return false;
}

/* Cache of names: slow calls repeat, and to read a symbol table takes long. */
static struct known {
	uint64_t file, value;
	char symbol[SYMBOL_BYTES];
} *know(uint64_t file, uint64_t value)
{
	static struct known known[KNOWN_COUNT];
	struct known *entry = &known[hash_word(file, value) >> 32 & (KNOWN_COUNT - 1)];

	if (entry->file != file || entry->value != value)
		entry->symbol[0] = '\0';
	entry->file = file;
	entry->value = value;
	return entry;
}

bool module_name(struct modules *modules, uint64_t address, char *name, size_t size)
{
	const struct maps_line *mapping = find(modules, address);
	Elf64_Phdr headers[HEADER_MAX];
	struct known *known;
	const char *leaf;
	uint64_t bias = 0;

	if (!mapping)
		return false;
	leaf = strrchr(mapping->path, '/') + 1;
	if (!read_headers(mapping, headers, &bias))
		return false;
	known = know(file_id(mapping), address - bias);
	if (!known->symbol[0] && !find_symbol(mapping, address - bias, known->symbol,
					      sizeof(known->symbol)))
		snprintf(known->symbol, sizeof(known->symbol), "+0x%" PRIx64, address - bias);
	snprintf(name, size, "%s %s", known->symbol, leaf);
	return true;
}

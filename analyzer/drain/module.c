/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/module.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER_MAX  64		/* program and section headers that are looked at */
#define SYMBOLS_MAX (64 << 20)	/* bytes of symbol and string tables, at most */

/* What .eh_frame_hdr must look like to be searched: as every linker writes it. */
#define EH_FRAME_POINTER 0x1b	/* relative to itself, 4 bytes */
#define EH_COUNT	 0x03	/* 4 bytes */
#define EH_TABLE	 0x3b	/* relative to the header, 4 bytes */

struct mapping {
	uint64_t begin, end, offset;
	char path[256];
};

struct modules {
	struct mapping *mappings;
	size_t count;
	/* The file that was read last, and a page of it. */
	const struct mapping *open;
	int fd;
	int64_t page_offset;
	size_t page_size;
	uint8_t page[4096];
};

static bool add_mapping(struct modules *modules, const char *line)
{
	struct mapping *grown;
	struct mapping mapping;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %255[^\n]",
		   &mapping.begin, &mapping.end, &mapping.offset, mapping.path) != 4 ||
	    mapping.path[0] != '/')
		return true;
	if (modules->count % 64 == 0) {
		grown = reallocarray(modules->mappings, modules->count + 64, sizeof(*grown));
		if (!grown)
			return false;
		modules->mappings = grown;
	}
	modules->mappings[modules->count++] = mapping;
	return true;
}

struct modules *modules_open(int32_t pid)
{
	struct modules *modules = calloc(1, sizeof(*modules));
	char path[40], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = modules ? fopen(path, "re") : NULL;
	if (!maps) {
		free(modules);
		return NULL;
	}
	modules->fd = -1;
	while (fgets(line, sizeof(line), maps) && add_mapping(modules, line))
		;
	fclose(maps);
	return modules;
}

void modules_close(struct modules *modules)
{
	if (modules->fd >= 0)
		close(modules->fd);
	free(modules->mappings);
	free(modules);
}

static const struct mapping *find(const struct modules *modules, uint64_t address)
{
	size_t low = 0, high = modules->count;

	/* The kernel lists them by address; the unwinder asks for thousands of words a stack. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (modules->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < modules->count && modules->mappings[low].begin <= address
		       ? &modules->mappings[low]
		       : NULL;
}

/* A device or a pipe of that name would do something when it is opened. */
static bool open_file(struct modules *modules, const struct mapping *mapping)
{
	if (modules->open && strcmp(modules->open->path, mapping->path) == 0)
		return modules->fd >= 0;
	if (modules->fd >= 0)
		close(modules->fd);
	modules->open = mapping;
	modules->page_size = 0;
	modules->fd = strncmp(mapping->path, "/dev/", 5) == 0
			      ? -1
			      : open(mapping->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return modules->fd >= 0;
}

static bool read_file(struct modules *modules, const struct mapping *mapping, uint64_t offset,
		      void *bytes, size_t size)
{
	if (!open_file(modules, mapping) || offset > INT64_MAX - size)
		return false;
	if (size > 64)
		return pread(modules->fd, bytes, size, (off_t)offset) == (ssize_t)size;
	if (!modules->page_size || (int64_t)offset < modules->page_offset ||
	    offset + size > (uint64_t)modules->page_offset + modules->page_size) {
		ssize_t got =
			pread(modules->fd, modules->page, sizeof(modules->page), (off_t)offset);

		modules->page_offset = (int64_t)offset;
		modules->page_size = got > 0 ? (size_t)got : 0;
		if (modules->page_size < size)
			return false;
	}
	memcpy(bytes, modules->page + (offset - (uint64_t)modules->page_offset), size);
	return true;
}

bool module_read(struct modules *modules, uint64_t address, void *bytes, size_t size)
{
	const struct mapping *mapping = find(modules, address);

	return mapping && size <= mapping->end - address &&
	       read_file(modules, mapping, address - mapping->begin + mapping->offset, bytes, size);
}

/* The program headers, and how far the module lies from where it was linked to be. */
static size_t read_headers(struct modules *modules, const struct mapping *mapping,
			   Elf64_Phdr headers[HEADER_MAX], uint64_t *ret_bias)
{
	Elf64_Ehdr file;

	if (!read_file(modules, mapping, 0, &file, sizeof(file)) ||
	    memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file.e_phentsize != sizeof(Elf64_Phdr) || !file.e_phnum || file.e_phnum > HEADER_MAX ||
	    !read_file(modules, mapping, file.e_phoff, headers, file.e_phnum * sizeof(Elf64_Phdr)))
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
	const struct mapping *mapping = find(modules, address);
	Elf64_Phdr headers[HEADER_MAX];
	uint64_t bias = 0;
	size_t count = mapping ? read_headers(modules, mapping, headers, &bias) : 0;

	for (size_t i = 0; i < count; i++) {
		struct {
			uint8_t version, pointer, count, table;
			int32_t frame;
			uint32_t entry_count;
		} start;

		if (headers[i].p_type != PT_GNU_EH_FRAME)
			continue;
		if (!read_file(modules, mapping, headers[i].p_offset, &start, sizeof(start)) ||
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

static void *read_section(struct modules *modules, const struct mapping *mapping,
			  const Elf64_Shdr *section)
{
	char *bytes;

	if (!section->sh_size || section->sh_size > SYMBOLS_MAX)
		return NULL;
	bytes = malloc(section->sh_size + 1);
	if (bytes && !read_file(modules, mapping, section->sh_offset, bytes, section->sh_size)) {
		free(bytes);
		return NULL;
	}
	if (bytes)
		bytes[section->sh_size] = '\0';
	return bytes;
}

/* The function of a symbol table that holds `value`. */
static bool search_symbols(const Elf64_Sym *symbols, size_t count, const char *strings,
			   size_t strings_size, uint64_t value, char *name, size_t size)
{
	const Elf64_Sym *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_value <= value &&
		    value - symbols[i].st_value < symbols[i].st_size &&
		    symbols[i].st_name < strings_size &&
		    (!best || symbols[i].st_value > best->st_value))
			best = &symbols[i];
	if (!best)
		return false;
	snprintf(name, size, "%s+0x%" PRIx64, strings + best->st_name, value - best->st_value);
	return true;
}

static bool name_in_table(struct modules *modules, const struct mapping *mapping,
			  const Elf64_Shdr *table, const Elf64_Shdr *strings_of, uint64_t value,
			  char *name, size_t size)
{
	Elf64_Sym *symbols = read_section(modules, mapping, table);
	char *strings = symbols ? read_section(modules, mapping, strings_of) : NULL;
	bool found = strings && search_symbols(symbols, table->sh_size / sizeof(*symbols), strings,
					       strings_of->sh_size, value, name, size);

	free(strings);
	free(symbols);
	return found;
}

static bool find_symbol(struct modules *modules, const struct mapping *mapping, uint64_t value,
			char *name, size_t size)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	Elf64_Shdr sections[HEADER_MAX];
	Elf64_Ehdr file;

	if (!read_file(modules, mapping, 0, &file, sizeof(file)) ||
	    file.e_shentsize != sizeof(Elf64_Shdr) || !file.e_shnum || file.e_shnum > HEADER_MAX ||
	    !read_file(modules, mapping, file.e_shoff, sections, file.e_shnum * sizeof(Elf64_Shdr)))
		return false;
	for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++)
		for (size_t i = 0; i < file.e_shnum; i++)
			if (sections[i].sh_type == types[k] && sections[i].sh_link < file.e_shnum &&
			    name_in_table(modules, mapping, &sections[i],
					  &sections[sections[i].sh_link], value, name, size))
				return true;
	return false;
}

bool module_name(struct modules *modules, uint64_t address, char *name, size_t size)
{
	const struct mapping *mapping = find(modules, address);
	Elf64_Phdr headers[HEADER_MAX];
	const char *leaf;
	char symbol[120];
	uint64_t bias = 0;

	if (!mapping)
		return false;
	leaf = strrchr(mapping->path, '/') + 1;
	if (!read_headers(modules, mapping, headers, &bias))
		return false;
	if (!find_symbol(modules, mapping, address - bias, symbol, sizeof(symbol)))
		snprintf(symbol, sizeof(symbol), "+0x%" PRIx64, address - bias);
	snprintf(name, size, "%s %s", symbol, leaf);
	return true;
}

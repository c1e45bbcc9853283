/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/elf.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

bool elf_is(const struct elf *elf)
{
	return elf->size > EI_NIDENT && memcmp(elf->bytes, ELFMAG, SELFMAG) == 0;
}

bool elf_is_readable(const Elf64_Ehdr *header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64;
}

const void *elf_part(const struct elf *elf, uint64_t offset, uint64_t size)
{
	if (offset > elf->size || size > elf->size - offset)
		return NULL;
	return elf->bytes + offset;
}

const char *elf_string(const struct elf *elf, uint64_t offset)
{
	if (offset >= elf->size || !memchr(elf->bytes + offset, 0, elf->size - offset))
		return NULL;
	return (const char *)elf->bytes + offset;
}

static void read_headers(struct elf *elf)
{
	const Elf64_Ehdr *header = elf_part(elf, 0, sizeof(*header));

	if (!header || !elf_is_readable(header))
		return;
	if (header->e_phentsize == sizeof(*elf->headers) && header->e_phoff % 8 == 0)
		elf->headers = elf_part(elf, header->e_phoff,
					(uint64_t)header->e_phnum * sizeof(*elf->headers));
	if (header->e_shentsize == sizeof(*elf->sections) && header->e_shoff % 8 == 0)
		elf->sections = elf_part(elf, header->e_shoff,
					 (uint64_t)header->e_shnum * sizeof(*elf->sections));
	elf->header_count = elf->headers ? header->e_phnum : 0;
	elf->section_count = elf->sections ? header->e_shnum : 0;
}

int elf_open(int fd, struct elf *ret)
{
	struct stat status;
	void *bytes;

	*ret = (struct elf){0};
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : -ENOEXEC;
	if (!status.st_size)
		return 0;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	ret->bytes = bytes;
	ret->size = (size_t)status.st_size;
	read_headers(ret);
	return 0;
}

void elf_close(struct elf *elf)
{
	if (elf->size)
		munmap((void *)elf->bytes, elf->size);
}

const Elf64_Dyn *elf_dynamic(const struct elf *elf, size_t *ret_count)
{
	for (size_t i = 0; i < elf->header_count; i++) {
		const Elf64_Phdr *header = &elf->headers[i];

		*ret_count = header->p_filesz / sizeof(Elf64_Dyn);
		if (header->p_type == PT_DYNAMIC && header->p_offset % 8 == 0)
			return elf_part(elf, header->p_offset, header->p_filesz);
	}
	return NULL;
}

/* Returns the offset in the file of what is loaded at `address`; the file's size if nothing is. */
static uint64_t file_offset(const struct elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->header_count; i++) {
		const Elf64_Phdr *header = &elf->headers[i];

		if (header->p_type == PT_LOAD && address >= header->p_vaddr &&
		    address - header->p_vaddr < header->p_filesz)
			return address - header->p_vaddr + header->p_offset;
	}
	return elf->size;
}

void elf_each_needed(const struct elf *elf, void (*take)(void *context, const char *name),
		     void *context)
{
	uint64_t strings = elf->size;
	size_t count = 0;
	const Elf64_Dyn *entries = elf_dynamic(elf, &count);

	for (size_t i = 0; entries && i < count; i++)
		if (entries[i].d_tag == DT_STRTAB)
			strings = file_offset(elf, entries[i].d_un.d_ptr);
	for (size_t i = 0; entries && i < count; i++) {
		const char *name = entries[i].d_tag == DT_NEEDED &&
						   entries[i].d_un.d_val <= elf->size
					   ? elf_string(elf, strings + entries[i].d_un.d_val)
					   : NULL;

		if (name)
			take(context, name);
	}
}

static const Elf64_Sym *search(const struct elf *elf, const Elf64_Shdr *table, const char *symbol)
{
	const Elf64_Sym *symbols = elf_part(elf, table->sh_offset, table->sh_size);
	const Elf64_Shdr *names =
		table->sh_link < elf->section_count ? &elf->sections[table->sh_link] : NULL;
	const char *strings = names ? elf_part(elf, names->sh_offset, names->sh_size) : NULL;
	const size_t size = strlen(symbol) + 1;

	if (!symbols || !strings || table->sh_offset % 8)
		return NULL;
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++)
		if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name <= names->sh_size &&
		    size <= names->sh_size - symbols[i].st_name &&
		    memcmp(strings + symbols[i].st_name, symbol, size) == 0)
			return &symbols[i];
	return NULL;
}

const Elf64_Sym *elf_export(const struct elf *elf, const char *symbol)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (elf->sections[i].sh_type == SHT_DYNSYM)
			return search(elf, &elf->sections[i], symbol);
	return NULL;
}

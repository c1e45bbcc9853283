/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - reads 64-bit ELF files, which are not trusted: returned parts always lie within the file.
 *
 * A file is mapped, so if it is truncated, reading raises SIGBUS. Files that the training may be
 * writing are read by module.h instead.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
	const uint8_t *bytes;
	size_t size;
	/* NULL if the file is not 64-bit ELF, or its table lies outside of it */
	const Elf64_Phdr *headers;
	size_t header_count;
	const Elf64_Shdr *sections;
	size_t section_count;
};

/* Maps a regular file of any format. Call elf_close() also after an error. */
int elf_open(int fd, struct elf *ret);
void elf_close(struct elf *elf);

bool elf_is(const struct elf *elf);

/* Returns true for the header of a 64-bit ELF file. Its byte order is not checked. */
bool elf_is_readable(const Elf64_Ehdr *header);

/* Returns the address of `size` bytes at `offset`, or NULL if the file has fewer. */
const void *elf_part(const struct elf *elf, uint64_t offset, uint64_t size);

/* Returns the string at `offset`, or NULL if the file ends before it does. */
const char *elf_string(const struct elf *elf, uint64_t offset);

const Elf64_Dyn *elf_dynamic(const struct elf *elf, size_t *ret_count);

void elf_each_needed(const struct elf *elf, void (*take)(void *context, const char *name),
		     void *context);

const Elf64_Sym *elf_export(const struct elf *elf, const char *symbol);


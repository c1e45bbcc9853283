/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - reads a 64-bit ELF file: its headers, what it needs and what it exports.
 *
 * A file is not trusted: no part is given out that does not lie in it. The file is mapped, so one
 * that is cut short meanwhile raises SIGBUS; module.h reads files that the training may be writing.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
	const uint8_t *bytes;
	size_t size;
	/* Program headers, if the file is of our own class. */
	const Elf64_Phdr *headers;
	size_t header_count;
	const Elf64_Shdr *sections;
	size_t section_count;
};

/* Maps a regular file, whatever it holds. 0 or -errno; call elf_close() in either case. */
int elf_open(int fd, struct elf *ret);
void elf_close(struct elf *elf);

/* Whether it begins as an ELF file, of whatever class. */
bool elf_is(const struct elf *elf);

/* Whether these are the first bytes of a file whose headers we can read. */
bool elf_is_readable(const Elf64_Ehdr *header);

/* A part of the file; NULL: it does not lie in the file. */
const void *elf_part(const struct elf *elf, uint64_t offset, uint64_t size);

/* A string that ends within the file, or NULL. */
const char *elf_string(const struct elf *elf, uint64_t offset);

/* The dynamic section; NULL: there is none. */
const Elf64_Dyn *elf_dynamic(const struct elf *elf, size_t *ret_count);

/* Calls `take` for each library that the file needs. */
void elf_each_needed(const struct elf *elf, void (*take)(void *context, const char *name),
		     void *context);

/* The symbol of this name that it exports; NULL: none. */
const Elf64_Sym *elf_export(const struct elf *elf, const char *symbol);


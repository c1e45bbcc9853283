/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - what a file of 64-bit ELF says of itself: its headers, what it needs and what it exports.
 *
 * Nothing in a file is trusted: no part that does not lie in it is given out. It is mapped, so one
 * that is cut short meanwhile is a SIGBUS; module.h reads what the training may be writing.
 */
#pragma once

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf {
	const uint8_t *bytes;
	size_t size;
	/* Of a file of our own class; else none. */
	const Elf64_Phdr *headers;
	size_t header_count;
	const Elf64_Shdr *sections;
	size_t section_count;
};

/* Maps a regular file, of whatever content. 0 or -errno; then elf_close(). */
int elf_open(int fd, struct elf *ret);
void elf_close(struct elf *elf);

/* Does it begin as an ELF file does, of whatever class? */
bool elf_is(const struct elf *elf);

/* Are these the first bytes of a file whose headers we can read? */
bool elf_is_readable(const Elf64_Ehdr *header);

/* NULL: it does not lie in the file. */
const void *elf_part(const struct elf *elf, uint64_t offset, uint64_t size);

/* A string that ends within the file, or NULL. */
const char *elf_string(const struct elf *elf, uint64_t offset);

/* NULL: there is none. */
const Elf64_Dyn *elf_dynamic(const struct elf *elf, size_t *ret_count);

/* Calls `take` for each library that it needs. */
void elf_each_needed(const struct elf *elf, void (*take)(void *context, const char *name),
		     void *context);

/* The symbol of this name that it defines for others; NULL: none. */
const Elf64_Sym *elf_export(const struct elf *elf, const char *symbol);


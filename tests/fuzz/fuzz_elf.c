/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_elf.c - the walker of loaded modules, fed with files of any content.
 *
 * The file is loaded as ld.so would, and behind the last byte that its program headers ask for lies
 * a page that nobody may touch. Where there is no libFuzzer, elf_replay.c is its main().
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "slots/elf.h"

#define IMAGE_MAX (1 << 20)
#define PARTS_MAX 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"jpeg_read_header", "inflate", "malloc", "a", "_ZN2cv6imreadE",
				    "no_such_name"};

static uint64_t sum;

static void look_up(const struct elf_module *module, const char *name)
{
	uint32_t hash = elf_hash(name);
	void *function = NULL;

	sum += elf_find(module, name, hash);
	sum += (uintptr_t)elf_function(module, name, hash) & 1;
	/* What it says can be run lies within a part that can. */
	if (elf_export(module, name, hash, &function) == 1 &&
	    !elf_covers(module, (uintptr_t)function, 1, PF_X))
		abort();
}

static void walk(const struct elf_module *module)
{
	struct elf_cursor cursor = {0};
	struct elf_slot slot;

	for (uint32_t i = 0; i < 64 * ELF_MASK_WORDS; i++)
		elf_want(&cursor, i);
	for (uint32_t i = 0; i < module->import_limit; i++)
		if (elf_name(module, i))
			sum += strlen(elf_name(module, i)) + elf_is_import(module, i);
	sum += elf_name(module, UINT32_MAX) != NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		look_up(module, names[i]);
	/* Its own names too: a chance name is in no hash. */
	for (uint32_t i = module->import_limit; i < module->chain_limit; i++)
		if (elf_name(module, i))
			look_up(module, elf_name(module, i));
	/* What it says can be written to, can. */
	while (elf_next_slot(module, &cursor, &slot))
		*(volatile uintptr_t *)slot.address ^= slot.symbol;
	if (module->soname)
		sum += strlen(module->soname);
}

#define PAGE_BYTES 4096

struct block {
	uint8_t *pages;
	size_t bytes;
	uint8_t *image;
};

/* 16 bytes of slack, because the image is aligned. */
static struct block make_block(size_t image_bytes)
{
	size_t kept = (image_bytes + 15) / 16 * 16;
	size_t room = (kept + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	struct block block = {.bytes = room + PAGE_BYTES};

	block.pages =
		mmap(NULL, block.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block.pages == MAP_FAILED || mprotect(block.pages + room, PAGE_BYTES, PROT_NONE) < 0)
		abort();
	block.image = block.pages + room - kept;
	return block;
}

static struct block load(const uint8_t *data, size_t size, const ElfW(Phdr) *parts, size_t count)
{
	size_t bytes = 0;
	struct block block;

	for (size_t i = 0; i < count; i++)
		if (parts[i].p_type == PT_LOAD && parts[i].p_vaddr + parts[i].p_memsz > bytes)
			bytes = parts[i].p_vaddr + parts[i].p_memsz;
	block = make_block(bytes);
	for (size_t i = 0; i < count; i++) {
		size_t wanted = parts[i].p_filesz < parts[i].p_memsz ? parts[i].p_filesz
								     : parts[i].p_memsz;

		if (parts[i].p_type != PT_LOAD || parts[i].p_offset >= size)
			continue;
		if (wanted > size - parts[i].p_offset)
			wanted = size - parts[i].p_offset;
		memcpy(block.image + parts[i].p_vaddr, data + parts[i].p_offset, wanted);
	}
	return block;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) parts[PARTS_MAX];
	struct elf_module module;
	struct block block;
	size_t count;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	if (header.e_phoff > size)
		return 0;
	count = header.e_phnum < PARTS_MAX ? header.e_phnum : PARTS_MAX;
	if (count > (size - header.e_phoff) / sizeof(parts[0]))
		count = (size - header.e_phoff) / sizeof(parts[0]);
	memcpy(parts, data + header.e_phoff, count * sizeof(parts[0]));
	/* ld.so maps a module's parts or refuses it: what is promised is there. All else is not. */
	for (size_t i = 0; i < count; i++)
		if (parts[i].p_type == PT_LOAD &&
		    (parts[i].p_vaddr > IMAGE_MAX || parts[i].p_memsz > IMAGE_MAX))
			parts[i].p_type = PT_NULL;
	block = load(data, size, parts, count);
	if (elf_open(&module, (uintptr_t)block.image, parts, count) == 0)
		walk(&module);
	munmap(block.pages, block.bytes);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/runtime.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/modules/elf.h"
#include "drain/modules/maps.h"

/*
 * A file whose name begins with one of these may contain the interpreter. /proc/PID/exe is no help:
 * it may be the dynamic loader.
 */
static const char *const names[] = {"libpython", "python"};

/* PY_VERSION_HEX of a final release. */
#define FINAL(minor) (UINT32_C(0x030000f0) | (uint32_t)(minor) << 16)

/* Old versions lack Py_Version: the first row whose function is exported tells the version. */
static const struct {
	uint32_t version;
	const char *function;
} newest[] = {
	{FINAL(10), "PyModule_AddObjectRef"},
	{FINAL(9), "PyFrame_GetCode"},
	{FINAL(8), "PyCode_NewWithPosOnlyArgs"},
};

struct search {
	const struct memory *memory;
	struct runtime *found;
	enum reason reason;
	uint64_t device, inode;
};

static uint64_t find_bias(const struct elf *elf, const struct maps_line *line)
{
	for (size_t i = 0; i < elf->header_count; i++) {
		const Elf64_Phdr *header = &elf->headers[i];

		if (header->p_type == PT_LOAD && header->p_offset / 4096 * 4096 == line->offset)
			return line->begin - line->offset + header->p_offset - header->p_vaddr;
	}
	return 0;
}

static enum reason find_version(const struct search *search, const struct elf *elf, uint64_t bias,
				uint32_t *ret)
{
	const Elf64_Sym *symbol = elf_export(elf, "Py_Version");

	if (symbol)
		return reason_of(
			memory_read(search->memory, bias + symbol->st_value, ret, sizeof(*ret)));
	for (size_t i = 0; i < ARRAY_COUNT(newest); i++) {
		*ret = newest[i].version;
		if (elf_export(elf, newest[i].function))
			return REASON_OBSERVED;
	}
	return REASON_VERSION;
}

static enum reason look_at(const struct search *search, const struct elf *elf,
			   const struct maps_line *line)
{
	const Elf64_Sym *symbol = elf_export(elf, "_PyRuntime");
	const uint64_t bias = find_bias(elf, line);
	enum reason reason;
	uint64_t interpreter = 0;
	uint32_t version;

	if (elf_is(elf) && !elf->header_count)
		return REASON_32_BIT;
	if (!symbol)
		return REASON_NO_PYTHON;
	reason = find_version(search, elf, bias, &version);
	if (reason != REASON_OBSERVED)
		return reason;
	search->found->address = bias + symbol->st_value;
	reason = layout_find(search->memory, search->found->address, version,
			     &search->found->layout);
	if (reason != REASON_OBSERVED)
		return reason;
	/* If there is no interpreter, this is a second libpython that the process does not use. */
	reason = reason_of(memory_read(search->memory, runtime_interpreter(search->found),
				       &interpreter, sizeof(interpreter)));
	return reason == REASON_OBSERVED && !interpreter ? REASON_NOT_READY : reason;
}

static int open_executable(int32_t pid, const struct maps_line *line)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/exe", pid);
	return maps_open(path, line->device, line->inode);
}

static int open_other(int32_t pid, const struct maps_line *line)
{
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/root%s", pid, line->path);
	fd = maps_open(path, line->device, line->inode);
	if (fd >= 0)
		return fd;
	/* A deleted file is opened through its mapping, for which one must be root. */
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
		 line->begin, line->end);
	return maps_open(path, line->device, line->inode);
}

static bool is_named(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static int look(void *context, const struct maps_line *line)
{
	struct search *search = context;
	enum reason reason = REASON_NO_FILE;
	struct elf elf;
	int fd;

	if (line->inode == search->inode && line->device == search->device)
		return 0;
	search->inode = line->inode;
	search->device = line->device;
	fd = open_executable(search->memory->pid, line);
	if (fd < 0 && !is_named(line->path))
		return 0;
	if (fd < 0)
		fd = open_other(search->memory->pid, line);
	if (fd >= 0 && elf_open(fd, &elf) == 0) {
		reason = look_at(search, &elf, line);
		elf_close(&elf);
	}
	if (fd >= 0)
		close(fd);
	/* An executable without an interpreter may have it in a library, so the search goes on. */
	if (reason != REASON_NO_PYTHON)
		search->reason = reason;
	return reason == REASON_OBSERVED;
}

uint64_t runtime_interpreter(const struct runtime *runtime)
{
	return runtime->address + runtime->layout.at[RUNTIME_INTERPRETERS] + sizeof(uint64_t);
}

enum reason runtime_find(const struct memory *memory, struct runtime *ret)
{
	struct search search = {memory, ret, REASON_NO_PYTHON};
	int r = maps_each(memory->pid, look, &search);

	return r < 0 ? reason_of(r) : search.reason;
}

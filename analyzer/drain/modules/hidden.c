/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/hidden.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/base/list.h"
#include "drain/base/now.h"
#include "drain/modules/elf.h"
#include "drain/modules/maps.h"
#include "drain/modules/module.h"

#define FILE_MAX_COUNT 4096
#define LIST_BYTES     2048
#define SECOND_NS      ((uint64_t)NS_PER_S)
#define LOOK_MAX_NS    (60 * SECOND_NS)

/* CPU time of a look: to scan torchvision's 319 libraries at once would slow a short training. */
#define LOOK_CPU_NS UINT64_C(1000000)
#define COST_PART   4000

/* Larger files are not scanned. OpenCV's, at 74 MB, is the largest known module with decoders. */
#define FILE_BYTES (192 << 20)

/* Modules with less code are not scanned: decoders have more, most extension modules less. */
#define CODE_BYTES (32 << 10)

static const char *const without_decoders[] = {
	"libtorch", "libc10", "libcu", "libnv", "libnccl", "libtriton", "libtensorflow",
	/* libraries of mathematics and tables, which are large and in many programs */
	"libdnnl", "libicudata", "libcodec2", "liblapack", "libblas", "libopenblas", "libmkl",
	"libscipy_openblas", "libLLVM",
	"dlprof", /* libdlprof.so itself, which contains all these texts */
	NULL,
};

/* Each copy of a library has `text`. If a file is named so or exports `symbol`, it is observed. */
static const struct {
	const char *library;
	const char *text;
	const char *symbol;
	const char *names[3];
} marks[] = {
	{"libjpeg", "Corrupt JPEG data: premature end of data segment", "jpeg_CreateDecompress",
	 {"libjpeg", "libturbojpeg", NULL}},
	{"libpng", "libpng version 1", "png_create_read_struct", {"libpng", NULL}},
	{"libwebp", "Not a key frame.", "WebPGetDecoderVersion", {"libwebp", NULL}},
	{"libtiff", "LIBTIFF, Version ", "TIFFClientOpen", {"libtiff", NULL}},
	{"libsndfile", "libsndfile-1.", "sf_strerror", {"libsndfile", NULL}},
};

#define MARK_COUNT ARRAY_COUNT(marks)

static struct {
	struct {
		uint64_t device, inode;
	} seen[FILE_MAX_COUNT];
	size_t seen_count;
	uint64_t rest_ns; /* no module is scanned before this time */
	char reached[LIST_BYTES];
	char hidden[LIST_BYTES];
} hidden;

void hidden_begin(void)
{
	memset(&hidden, 0, sizeof(hidden));
}

int hidden_reached(struct writer *writer, const char *library)
{
	if (!list_add(hidden.reached, sizeof(hidden.reached), library))
		return 0;
	return writer_meta(writer, META_DECODERS_PATCHED, hidden.reached);
}

static bool has_text(const struct elf *elf, const char *text)
{
	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *section = &elf->sections[i];
		const void *bytes = elf_part(elf, section->sh_offset, section->sh_size);

		if (bytes && section->sh_type == SHT_PROGBITS &&
		    (section->sh_flags & ~(uint64_t)(SHF_MERGE | SHF_STRINGS)) == SHF_ALLOC &&
		    memmem(bytes, section->sh_size, text, strlen(text)))
			return true;
	}
	return false;
}

/* Returns true if the module's calls of its own exports are direct, as linked with -Bsymbolic. */
static bool is_symbolic(const struct elf *elf)
{
	size_t count = 0;
	const Elf64_Dyn *entries = elf_dynamic(elf, &count);

	for (size_t i = 0; entries && i < count; i++)
		if (entries[i].d_tag == DT_SYMBOLIC ||
		    (entries[i].d_tag == DT_FLAGS && (entries[i].d_un.d_val & DF_SYMBOLIC)))
			return true;
	return false;
}

static bool is_named(const char *const *names, const char *path)
{
	for (; *names; names++)
		if (strncmp(basename(path), *names, strlen(*names)) == 0)
			return true;
	return false;
}

unsigned int hidden_scan(int fd, const char *path)
{
	unsigned int found = 0;
	struct elf elf;

	if (elf_open(fd, &elf) < 0)
		return 0;
	for (size_t i = 0; elf.size <= FILE_BYTES && i < MARK_COUNT; i++)
		if (!is_named(marks[i].names, path) && has_text(&elf, marks[i].text) &&
		    (!elf_export(&elf, marks[i].symbol) || is_symbolic(&elf)))
			found |= 1u << i;
	elf_close(&elf);
	return found;
}

static int note(struct writer *writer, const char *path, const char *library)
{
	char text[512];
	int r;

	snprintf(text, sizeof(text), "%s in %s", library, basename(path));
	if (!list_add(hidden.hidden, sizeof(hidden.hidden), text))
		return 0;
	r = writer_meta(writer, META_DECODERS_HIDDEN, hidden.hidden);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "decoder %s inside %s cannot be observed directly", library,
		 path);
	return writer_note(writer, "info", text);
}

/* Returns true if the file may have a decoder, and no process had mapped it before. */
static bool note_file(const struct maps_line *line)
{
	for (size_t i = hidden.seen_count; i-- > 0;)
		if (hidden.seen[i].inode == line->inode && hidden.seen[i].device == line->device)
			return false;
	if (hidden.seen_count == FILE_MAX_COUNT)
		return false;
	hidden.seen[hidden.seen_count].inode = line->inode;
	hidden.seen[hidden.seen_count++].device = line->device;
	return !is_named(without_decoders, line->path);
}

/* Scans the modules that are new. *ret_paused: time was up before the last one. */
static int look_through(struct writer *writer, const struct modules *modules, bool *ret_paused)
{
	const uint64_t begin_ns = cpu_ns();
	struct maps_line line;
	unsigned int found;
	int fd, r = 0;

	for (size_t n = 0; r == 0 && !*ret_paused && modules_get(modules, n, &line); n++) {
		/* Only the mapping with a module's code is scanned. */
		if (!line.is_code || line.end - line.begin < CODE_BYTES || !note_file(&line))
			continue;
		fd = maps_open(line.path, line.device, line.inode);
		found = fd < 0 ? 0 : hidden_scan(fd, line.path);
		close(fd);
		for (size_t i = 0; r == 0 && i < MARK_COUNT; i++)
			if (found & 1u << i)
				r = note(writer, line.path, marks[i].library);
		*ret_paused = cpu_ns() - begin_ns >= LOOK_CPU_NS;
	}
	return r;
}

int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns)
{
	const uint64_t begin_ns = cpu_ns();
	struct modules *modules;
	bool paused = false;
	int r = 0;

	if (segment->dead || now_ns < segment->look.at_ns || now_ns < hidden.rest_ns)
		return 0;
	modules = modules_of(alive_number(&segment->alive));
	if (modules && modules_update(modules, now_ns))
		r = look_through(writer, modules, &paused);
	hidden.rest_ns = now_ns + (cpu_ns() - begin_ns) * COST_PART;
	if (paused || r < 0)
		return r;
	/* Intervals grow, since most imports happen early. */
	segment->look.wait_ns = within(SECOND_NS, LOOK_MAX_NS, 2 * segment->look.wait_ns);
	segment->look.at_ns = now_ns + segment->look.wait_ns;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/hidden.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/base/list.h"
#include "drain/base/now.h"
#include "drain/modules/elf.h"
#include "drain/modules/maps.h"
#include "drain/modules/module.h"

#define FILE_MAX_COUNT 4096
#define STATE_COUNT    16
#define LIST_BYTES     2048
#define SECOND_NS      ((uint64_t)NS_PER_S)
#define LOOK_MAX_NS    (60 * SECOND_NS)

/*
 * Hundreds of libraries may be there (Debian's torchvision: 319, 300 MB), and a short training is
 * not to pay for all of them: a look takes this much processor time, and all looks together one
 * part in so many of a core. What was not reached is looked at later, or never.
 */
#define LOOK_CPU_NS UINT64_C(1000000)
#define COST_PART   4000

/*
 * The largest module with decoders seen so far is OpenCV's, 74 MB. Larger ones, and those of these
 * names, are GPU code.
 */
#define FILE_BYTES (192 << 20)

/* A decoder has more code than this; most extension modules and tables of characters have less. */
#define CODE_BYTES (32 << 10)

/* Every text has at least STRIDE + 3 bytes, so that four of its own lie at a multiple of that. */
#define STRIDE	  8
#define HASH_BITS 14

static const char *const without_decoders[] = {
	"libtorch", "libc10", "libcu", "libnv", "libnccl", "libtriton", "libtensorflow",
	/* Mathematics and tables, large and in many programs. */
	"libdnnl", "libicudata", "libcodec2", "liblapack", "libblas", "libopenblas", "libmkl",
	"libscipy_openblas", "libLLVM",
	"dlprof", /* our own, which names them to look for them */
	NULL,
};

/*
 * `text` is in every copy of the library, stripped or not. A copy that exports `symbol` can be
 * observed. The library's own files begin with one of `names`.
 */
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

/* What was looked at and found in this run. */
static struct {
	struct {
		uint64_t device, inode;
	} seen[FILE_MAX_COUNT];
	size_t seen_count;
	uint64_t states[STATE_COUNT]; /* maps_state() of processes that were looked through */
	size_t state_count;
	uint64_t list;                /* modules_generation() of the list that is looked through */
	size_t next;                  /* ... and the place in it */
	uint64_t rest_ns; /* no look before */
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

/*
 * Strings are in sections that are neither written nor run. So are tables for unwinding (29 % of
 * those bytes in PyTorch's modules), which are skipped.
 */
static bool may_have_text(const struct elf *elf, const Elf64_Shdr *section, uint64_t names)
{
	static const char table[] = ".eh_frame";
	const char *name = elf_part(elf, names + section->sh_name, sizeof(table) - 1);

	return section->sh_type == SHT_PROGBITS &&
	       (section->sh_flags & ~(uint64_t)(SHF_MERGE | SHF_STRINGS)) == SHF_ALLOC &&
	       (!names || !name || memcmp(name, table, sizeof(table) - 1) != 0);
}

static bool has_code(const struct elf *elf)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < elf->section_count; i++)
		if (elf->sections[i].sh_flags & SHF_EXECINSTR)
			bytes += elf->sections[i].sh_size;
	return bytes >= CODE_BYTES;
}

static size_t hash_at(const void *bytes)
{
	uint32_t gram;

	memcpy(&gram, bytes, sizeof(gram));
	return gram * UINT32_C(0x9e3779b1) >> (32 - HASH_BITS);
}

/* Bits of the marks whose texts begin less than STRIDE bytes before `at`, or there. */
static unsigned int find_texts_at(const uint8_t *bytes, size_t size, size_t at)
{
	unsigned int found = 0;

	for (size_t k = 0; k < MARK_COUNT; k++)
		for (size_t back = 0; back < STRIDE && back <= at; back++)
			if (strlen(marks[k].text) <= size - (at - back) &&
			    memcmp(bytes + at - back, marks[k].text, strlen(marks[k].text)) == 0)
				found |= 1u << k;
	return found;
}

/*
 * Bits of the marks whose texts are in there. Every STRIDE bytes four of them are looked up among
 * those that the texts begin with: one pass over hundreds of megabytes, and not one for each mark.
 */
static unsigned int find_texts_in(const uint8_t *bytes, size_t size)
{
	static bool is_begin[1 << HASH_BITS];
	unsigned int found = 0;

	for (size_t k = 0; k < MARK_COUNT; k++)
		for (size_t at = 0; at < STRIDE; at++)
			is_begin[hash_at(marks[k].text + at)] = true;
	for (size_t at = 0; at + sizeof(uint32_t) <= size; at += STRIDE)
		if (__builtin_expect(is_begin[hash_at(bytes + at)], 0))
			found |= find_texts_at(bytes, size, at);
	return found;
}

static unsigned int find_texts(const struct elf *elf)
{
	const Elf64_Ehdr *header = elf_part(elf, 0, sizeof(*header));
	const uint64_t names = header && header->e_shstrndx < elf->section_count
				       ? elf->sections[header->e_shstrndx].sh_offset
				       : 0;
	unsigned int found = 0;

	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *section = &elf->sections[i];
		const void *bytes = elf_part(elf, section->sh_offset, section->sh_size);

		if (bytes && may_have_text(elf, section, names))
			found |= find_texts_in(bytes, section->sh_size);
	}
	return found;
}

/* It calls its own exports directly. */
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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_named(const char *const *names, const char *path)
{
	for (; *names; names++)
		if (strncmp(base_name(path), *names, strlen(*names)) == 0)
			return true;
	return false;
}

/* Closes the file. */
static int scan_file(int fd, const char *path, int (*found)(void *context, const char *library),
		     void *context)
{
	struct elf elf;
	int r = elf_open(fd, &elf);
	unsigned int texts;

	close(fd);
	if (r < 0)
		return 0;
	texts = elf.size <= FILE_BYTES && has_code(&elf) ? find_texts(&elf) : 0;
	for (size_t i = 0; r == 0 && i < MARK_COUNT; i++)
		if ((texts & 1u << i) && !is_named(marks[i].names, path) &&
		    (!elf_export(&elf, marks[i].symbol) || is_symbolic(&elf)))
			r = found(context, marks[i].library);
	elf_close(&elf);
	return r;
}

int hidden_scan(const char *path, int (*found)(void *context, const char *library), void *context)
{
	struct stat status;
	int fd = stat(path, &status) < 0
			 ? -1
			 : maps_open(path, maps_device(status.st_dev), status.st_ino);

	return fd < 0 ? 0 : scan_file(fd, path, found, context);
}

struct module {
	struct writer *writer;
	const char *path;
};

static int note(void *context, const char *library)
{
	const struct module *module = context;
	char text[512];
	int r;

	snprintf(text, sizeof(text), "%s in %s", library, base_name(module->path));
	if (!list_add(hidden.hidden, sizeof(hidden.hidden), text))
		return 0;
	r = writer_meta(module->writer, META_DECODERS_HIDDEN, hidden.hidden);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "decoder %s inside %s cannot be observed directly", library,
		 module->path);
	return writer_note(module->writer, "info", text);
}

/* Notes the file. True: look at it, once, whichever process has it. */
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

/* *ret_paused: there is more. */
static int look_through(struct writer *writer, const struct modules *modules, bool *ret_paused)
{
	const uint64_t begin_ns = cpu_ns();
	struct maps_line line;
	int fd, r = 0;

	if (hidden.list != modules_generation(modules))
		hidden.next = 0;
	hidden.list = modules_generation(modules);
	while (r == 0 && !*ret_paused && modules_get(modules, hidden.next++, &line)) {
		struct module module = {writer, line.path};

		/* What has code is a module. */
		if (!line.is_code || line.end - line.begin < CODE_BYTES || !note_file(&line))
			continue;
		fd = maps_open(line.path, line.device, line.inode);
		if (fd >= 0)
			r = scan_file(fd, line.path, note, &module);
		*ret_paused = cpu_ns() - begin_ns >= LOOK_CPU_NS;
	}
	return r;
}

/* Of this process or of the one that it was forked from. */
static bool is_known(uint64_t state)
{
	for (size_t i = 0; state && i < STATE_COUNT; i++)
		if (hidden.states[i] == state)
			return true;
	return false;
}

int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns)
{
	struct modules *modules;
	bool paused = false;
	int32_t number;
	uint64_t state, begin_ns;
	int r = 0;

	if (segment->dead || now_ns < segment->look_ns || now_ns < hidden.rest_ns)
		return 0;
	number = alive_number(&segment->alive);
	state = number ? maps_state(number) : 0;
	if (state && !is_known(state)) {
		begin_ns = cpu_ns();
		modules = modules_of(number);
		if (modules && modules_update(modules, now_ns))
			r = look_through(writer, modules, &paused);
		hidden.rest_ns = now_ns + (cpu_ns() - begin_ns) * COST_PART;
		if (paused || r < 0)
			return r;
		hidden.states[hidden.state_count++ % STATE_COUNT] = state;
	}
	/* Looks at once, then at growing intervals: most imports come early. */
	segment->look_wait_ns = within(SECOND_NS, LOOK_MAX_NS, 2 * segment->look_wait_ns);
	segment->look_ns = now_ns + segment->look_wait_ns;
	return 0;
}

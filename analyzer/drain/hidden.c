/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/hidden.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/list.h"
#include "drain/maps.h"

#define FILE_MAX_COUNT 4096
#define STATE_COUNT    16
#define LIST_BYTES     2048
#define SECOND_NS      UINT64_C(1000000000)
#define LOOK_MAX_NS    (60 * SECOND_NS)

/*
 * The rings must not wait for us, nor the training for its disk: so much is read at a time, and no
 * larger file at all. The largest module with decoders in it seen so far is OpenCV's, 74 MB; what
 * is larger, or of these names, is made of GPU code.
 */
#define LOOK_BYTES (96 << 20)
#define FILE_BYTES (192 << 20)

/* A decoder has more code than this, and most extension modules have not; nor have tables of
 * characters, of which there may be as much as of all else. */
#define CODE_BYTES (32 << 10)

static const char *const without_decoders[] = {
	"libtorch", "libc10", "libcu", "libnv", "libnccl", "libtriton", "libtensorflow",
	"dlprof", /* our own, which names them to look for them */
	NULL,
};

/*
 * `text` is in every copy of the library, whatever is stripped; `symbol` is exported by a copy that
 * others can be seen to call; the library's own files begin with one of `names`.
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

#define MARK_COUNT (sizeof(marks) / sizeof(marks[0]))
#define TEXT_BYTES 13 /* of the shortest; a shorter one would make all looks more */
#define GRAM_BYTES sizeof(uint32_t)
#define STRIDE	   (TEXT_BYTES - GRAM_BYTES + 1)
#define HASH_BITS  14

/* Of one run at a time: what has been looked at and what was found belongs to it. */
static struct {
	struct {
		uint64_t device, inode;
	} seen[FILE_MAX_COUNT];
	size_t seen_count;
	uint64_t states[STATE_COUNT]; /* maps_state() where there was nothing left to look at */
	size_t state_count;
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
	return writer_meta(writer, "decoders_patched", hidden.reached);
}

struct image {
	const uint8_t *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	size_t section_count;
	const Elf64_Shdr *names; /* of the sections; NULL: none */
};

static const void *part_of(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

static bool open_image(struct image *image)
{
	const Elf64_Ehdr *header = part_of(image, 0, sizeof(*header));

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shoff % 8 ||
	    header->e_shentsize != sizeof(Elf64_Shdr))
		return false;
	image->section_count = header->e_shnum;
	image->sections =
		part_of(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
	if (image->sections && header->e_shstrndx < image->section_count)
		image->names = &image->sections[header->e_shstrndx];
	return image->sections;
}

/*
 * Strings are where nothing may be written or run; tables for unwinding are there, too, 29 % of it
 * in PyTorch's modules.
 */
static bool may_have_text(const struct image *image, const Elf64_Shdr *section)
{
	static const char table[] = ".eh_frame";
	const char *name;

	if (section->sh_type != SHT_PROGBITS ||
	    (section->sh_flags & ~(uint64_t)(SHF_MERGE | SHF_STRINGS)) != SHF_ALLOC)
		return false;
	name = image->names && section->sh_name <= image->names->sh_size
		       ? part_of(image, image->names->sh_offset + section->sh_name,
				 sizeof(table) - 1)
		       : NULL;
	return !name || memcmp(name, table, sizeof(table) - 1) != 0;
}

static uint32_t gram_at(const void *bytes)
{
	uint32_t gram;

	memcpy(&gram, bytes, sizeof(gram));
	return gram * UINT32_C(0x9e3779b1) >> (32 - HASH_BITS);
}

/* Which grams the first TEXT_BYTES of the texts have in them. */
static const bool *grams(void)
{
	static bool table[1 << HASH_BITS];

	for (size_t i = 0; i < MARK_COUNT; i++)
		for (size_t at = 0; at < STRIDE; at++)
			table[gram_at(marks[i].text + at)] = true;
	return table;
}

/* Bits of the marks whose texts begin less than STRIDE bytes before `at`, or there. */
static unsigned int find_texts_at(const uint8_t *bytes, size_t size, size_t at)
{
	unsigned int found = 0;

	for (size_t i = 0; i < MARK_COUNT; i++) {
		const char *text = marks[i].text;

		for (size_t back = 0; back < STRIDE && back <= at; back++) {
			const uint8_t *begin = bytes + at - back;

			if (*begin == (uint8_t)*text && strlen(text) <= size - (at - back) &&
			    memcmp(begin, text, strlen(text)) == 0)
				found |= 1u << i;
		}
	}
	return found;
}

/*
 * Bits of the marks whose texts are in there. Each has a gram of its own at a multiple of STRIDE;
 * no look waits for the one before, so that it takes little more than memory does.
 */
static unsigned int find_texts(const uint8_t *bytes, size_t size)
{
	const bool *table = grams();
	unsigned int found = 0;

	for (size_t at = 0; at + GRAM_BYTES <= size; at += STRIDE)
		if (__builtin_expect(table[gram_at(bytes + at)], 0))
			found |= find_texts_at(bytes, size, at);
	return found;
}

static bool has_code(const struct image *image)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < image->section_count; i++)
		if (image->sections[i].sh_flags & SHF_EXECINSTR)
			bytes += image->sections[i].sh_size;
	return bytes >= CODE_BYTES;
}

static unsigned int find_marks(const struct image *image)
{
	unsigned int found = 0;

	for (size_t i = 0; i < image->section_count; i++) {
		const Elf64_Shdr *section = &image->sections[i];
		const void *bytes = part_of(image, section->sh_offset, section->sh_size);

		if (bytes && may_have_text(image, section))
			found |= find_texts(bytes, section->sh_size);
	}
	return found;
}

static bool exports_in(const struct image *image, const Elf64_Shdr *section, const char *name)
{
	const Elf64_Sym *symbols = part_of(image, section->sh_offset, section->sh_size);
	const Elf64_Shdr *names = section->sh_link < image->section_count
					  ? &image->sections[section->sh_link]
					  : NULL;
	const char *strings = names ? part_of(image, names->sh_offset, names->sh_size) : NULL;
	size_t size = strlen(name) + 1;

	if (!symbols || !strings || section->sh_offset % 8)
		return false;
	for (size_t i = 0; i < section->sh_size / sizeof(*symbols); i++)
		if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name <= names->sh_size &&
		    size <= names->sh_size - symbols[i].st_name &&
		    memcmp(strings + symbols[i].st_name, name, size) == 0)
			return true;
	return false;
}

static bool exports(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->section_count; i++)
		if (image->sections[i].sh_type == SHT_DYNSYM)
			return exports_in(image, &image->sections[i], name);
	return false;
}

/* Its calls of what it exports go straight to itself. */
static bool is_symbolic(const struct image *image)
{
	for (size_t i = 0; i < image->section_count; i++) {
		const Elf64_Shdr *section = &image->sections[i];
		const Elf64_Dyn *entries = part_of(image, section->sh_offset, section->sh_size);

		if (section->sh_type != SHT_DYNAMIC || !entries || section->sh_offset % 8)
			continue;
		for (size_t at = 0; at < section->sh_size / sizeof(*entries); at++)
			if (entries[at].d_tag == DT_SYMBOLIC ||
			    (entries[at].d_tag == DT_FLAGS &&
			     (entries[at].d_un.d_val & DF_SYMBOLIC)))
				return true;
	}
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

static int scan(const struct image *image, const char *path,
		int (*found)(void *context, const char *library), void *context)
{
	unsigned int texts = has_code(image) ? find_marks(image) : 0;

	for (size_t i = 0; i < MARK_COUNT; i++) {
		int r;

		if (!(texts & 1u << i) || is_named(marks[i].names, path) ||
		    (exports(image, marks[i].symbol) && !is_symbolic(image)))
			continue;
		r = found(context, marks[i].library);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Closes the file. */
static int scan_file(int fd, const char *path, int (*found)(void *context, const char *library),
		     void *context)
{
	struct image image = {0};
	struct stat status;
	void *bytes = MAP_FAILED;
	int r = 0;

	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > CODE_BYTES &&
	    status.st_size <= FILE_BYTES)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (bytes == MAP_FAILED)
		return 0;
	image.bytes = bytes;
	image.size = (size_t)status.st_size;
	if (open_image(&image))
		r = scan(&image, path, found, context);
	munmap(bytes, image.size);
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
	r = writer_meta(module->writer, "decoders_hidden", hidden.hidden);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "decoder %s inside %s cannot be observed directly", library,
		 module->path);
	return writer_note(module->writer, "info", text);
}

/* Once for each file, whichever process has it. */
static bool is_new(const struct maps_line *line)
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

struct look {
	struct writer *writer;
	uint64_t bytes;	/* looked at */
	bool paused;	/* there is more */
	int error;	/* of the database */
};

/* What has code is a module. */
static int look_at(void *context, const struct maps_line *line)
{
	struct module module = {.path = line->path};
	struct look *look = context;
	struct stat status;
	int fd;

	if (!line->is_code)
		return 0;
	look->paused = look->bytes > LOOK_BYTES;
	if (look->paused)
		return 1;
	fd = is_new(line) ? maps_open(line->path, line->device, line->inode) : -1;
	if (fd < 0)
		return 0;
	module.writer = look->writer;
	if (fstat(fd, &status) == 0)
		look->bytes += (uint64_t)status.st_size;
	look->error = scan_file(fd, line->path, note, &module);
	return look->error;
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
	struct look look = {.writer = writer};
	int32_t number;
	uint64_t state;

	if (segment->dead || now_ns < segment->look_ns)
		return 0;
	number = alive_number(&segment->alive);
	state = number ? maps_state(number) : 0;
	if (number && !is_known(state)) {
		maps_each(number, look_at, &look);
		if (look.paused || look.error)
			return look.error;
		hidden.states[hidden.state_count++ % STATE_COUNT] = state;
	}
	/* At once, then ever more seldom: imports come first. */
	segment->look_wait_ns = segment->look_wait_ns ? 2 * segment->look_wait_ns : SECOND_NS;
	if (segment->look_wait_ns > LOOK_MAX_NS)
		segment->look_wait_ns = LOOK_MAX_NS;
	segment->look_ns = now_ns + segment->look_wait_ns;
	return 0;
}

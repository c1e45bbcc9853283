/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/hidden.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_COUNT 4096
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

/* One run a process: what has been looked at and what was found belongs to it. */
static struct {
	struct {
		dev_t device;
		ino_t inode;
	} seen[FILE_MAX_COUNT];
	size_t seen_count;
	char reached[LIST_BYTES];
	char hidden[LIST_BYTES];
} hidden;

/* False: it is there already, or there is no room. */
static bool add_to_list(char *list, const char *item)
{
	size_t length = strlen(list), size = strlen(item);

	for (const char *at = strstr(list, item); at; at = strstr(at + 1, item))
		if ((at == list || at[-1] == ',') && (at[size] == ',' || !at[size]))
			return false;
	if (length + size + 2 > LIST_BYTES)
		return false;
	snprintf(list + length, LIST_BYTES - length, "%s%s", length ? "," : "", item);
	return true;
}

int hidden_reached(struct writer *writer, const char *library)
{
	if (!add_to_list(hidden.reached, library))
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

static bool has_text(const struct image *image, const char *text)
{
	for (size_t i = 0; i < image->section_count; i++) {
		const Elf64_Shdr *section = &image->sections[i];
		const void *bytes = part_of(image, section->sh_offset, section->sh_size);

		if (bytes && may_have_text(image, section) &&
		    memmem(bytes, section->sh_size, text, strlen(text)))
			return true;
	}
	return false;
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
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		int r;

		if (is_named(marks[i].names, path) || !has_text(image, marks[i].text) ||
		    (exports(image, marks[i].symbol) && !is_symbolic(image)))
			continue;
		r = found(context, marks[i].library);
		if (r < 0)
			return r;
	}
	return 0;
}

int hidden_scan(const char *path, int (*found)(void *context, const char *library), void *context)
{
	struct image image = {0};
	struct stat status;
	void *bytes = MAP_FAILED;
	int fd, r = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
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
	if (!add_to_list(hidden.hidden, text))
		return 0;
	r = writer_meta(module->writer, "decoders_hidden", hidden.hidden);
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "decoder %s inside %s cannot be observed directly", library,
		 module->path);
	return writer_note(module->writer, "info", text);
}

/* Once for each file, whichever process has it. */
static bool is_new(const char *path, uint64_t *ret_bytes)
{
	struct stat status;

	if (is_named(without_decoders, path) || stat(path, &status) < 0 ||
	    hidden.seen_count == FILE_MAX_COUNT)
		return false;
	*ret_bytes = (uint64_t)status.st_size;
	for (size_t i = hidden.seen_count; i-- > 0;)
		if (hidden.seen[i].inode == status.st_ino && hidden.seen[i].device == status.st_dev)
			return false;
	hidden.seen[hidden.seen_count].inode = status.st_ino;
	hidden.seen[hidden.seen_count++].device = status.st_dev;
	return true;
}

/* *ret_all: there is nothing left to look at. */
static int look(struct writer *writer, FILE *maps, bool *ret_all)
{
	char line[4400], last[4200] = "";
	uint64_t looked_bytes = 0;
	int r = 0;

	*ret_all = false;
	while (r == 0 && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');
		struct module module = {writer, path};
		uint64_t bytes = 0;

		/* address rights offset device inode path: what has code is a module */
		if (!path || !strstr(line, " r-xp "))
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (strcmp(path, last) == 0)
			continue;
		if (looked_bytes > LOOK_BYTES)
			return 0;
		snprintf(last, sizeof(last), "%s", path);
		if (!is_new(path, &bytes))
			continue;
		looked_bytes += bytes;
		r = hidden_scan(path, note, &module);
	}
	*ret_all = true;
	return r;
}

int hidden_look(struct writer *writer, struct segment *segment, uint64_t now_ns)
{
	char name[64];
	FILE *maps;
	bool all;
	int r;

	if (segment->dead || now_ns < segment->look_ns)
		return 0;
	snprintf(name, sizeof(name), "/proc/%d/maps", segment->header->pid);
	maps = fopen(name, "re");
	if (!maps)	/* gone, or not ours to look at */
		return 0;
	r = look(writer, maps, &all);
	fclose(maps);
	if (!all)
		return r;
	/* At once, then ever more seldom: imports come first. */
	segment->look_wait_ns = segment->look_wait_ns ? 2 * segment->look_wait_ns : SECOND_NS;
	if (segment->look_wait_ns > LOOK_MAX_NS)
		segment->look_wait_ns = LOOK_MAX_NS;
	segment->look_ns = now_ns + segment->look_wait_ns;
	return r;
}

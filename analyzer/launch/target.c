/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/target.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_SCRIPTS 5
#define FIRST_LINE   256 /* as much as the kernel reads */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

struct image {
	const uint8_t *bytes;
	size_t size;
};

static const void *part(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

/* A string that ends within the file. */
static const char *string_at(const struct image *image, uint64_t offset)
{
	if (offset >= image->size || !memchr(image->bytes + offset, 0, image->size - offset))
		return NULL;
	return (const char *)image->bytes + offset;
}

static int map_file(const char *path, struct image *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		r = -errno;
	else if (!S_ISREG(status.st_mode))
		r = S_ISDIR(status.st_mode) ? -EISDIR : -ENOEXEC;
	*ret = (struct image){NULL, r ? 0 : (size_t)status.st_size};
	if (ret->size) {
		ret->bytes = mmap(NULL, ret->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (ret->bytes == MAP_FAILED)
			r = -errno;
	}
	close(fd);
	return r;
}

static void unmap_file(struct image *image)
{
	if (image->size)
		munmap((void *)image->bytes, image->size);
}

static uint64_t file_offset(const struct image *image, const Elf64_Phdr *headers, size_t count,
			    uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
		    address - headers[i].p_vaddr < headers[i].p_filesz)
			return address - headers[i].p_vaddr + headers[i].p_offset;
	return image->size;
}

static void read_needed(const struct image *image, const Elf64_Phdr *headers, size_t count,
			const Elf64_Phdr *dynamic, struct target *ret)
{
	const Elf64_Dyn *entries = part(image, dynamic->p_offset, dynamic->p_filesz);
	size_t entry_count = dynamic->p_filesz / sizeof(*entries);
	uint64_t strings = image->size;

	if (!entries || dynamic->p_offset % 8)
		return;
	for (size_t i = 0; i < entry_count; i++)
		if (entries[i].d_tag == DT_STRTAB)
			strings = file_offset(image, headers, count, entries[i].d_un.d_ptr);
	for (size_t i = 0; i < entry_count; i++) {
		const char *name;

		if (entries[i].d_tag != DT_NEEDED || entries[i].d_un.d_val > image->size)
			continue;
		name = string_at(image, strings + entries[i].d_un.d_val);
		if (name && strncmp(name, "libasan", 7) == 0)
			snprintf(ret->asan, sizeof(ret->asan), "%s", name);
		if (name && strncmp(name, "libpython", 9) == 0)
			ret->has_libpython = true;
	}
}

/* Only of our own class is more than the header read: others fail by that alone. */
static void read_elf(const struct image *image, struct target *ret)
{
	const Elf64_Ehdr *header = part(image, 0, sizeof(*header));
	const Elf64_Phdr *headers;

	ret->elf_class = image->bytes[EI_CLASS];
	if (!header)
		return;
	ret->machine = header->e_machine; /* in the same place in both classes */
	if (ret->elf_class != ELFCLASS64 || header->e_phentsize != sizeof(*headers) ||
	    header->e_phoff % 8)
		return;
	headers = part(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(*headers));
	for (size_t i = 0; headers && i < header->e_phnum; i++) {
		const char *loader;

		if (headers[i].p_type == PT_DYNAMIC)
			read_needed(image, headers, header->e_phnum, &headers[i], ret);
		if (headers[i].p_type != PT_INTERP)
			continue;
		loader = string_at(image, headers[i].p_offset);
		if (loader)
			snprintf(ret->loader, sizeof(ret->loader), "%s", loader);
	}
}

static bool is_elf(const struct image *image)
{
	return image->size > EI_NIDENT && memcmp(image->bytes, ELFMAG, SELFMAG) == 0;
}

/* The kernel gives such a program rights that its caller has not; ld.so then trusts no variable. */
static bool is_secure(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return false;
	return (status.st_mode & S_ISUID && status.st_uid != getuid()) ||
	       (status.st_mode & S_ISGID && status.st_gid != getgid()) ||
	       (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

int target_read(const char *path, struct target *ret)
{
	struct image image;
	int r;

	*ret = (struct target){0};
	snprintf(ret->path, sizeof(ret->path), "%.*s", PATH_MAX - 1, path);
	r = map_file(path, &image);
	if (r < 0)
		return r;
	if (is_elf(&image))
		read_elf(&image, ret);
	ret->is_secure = is_secure(path);
	unmap_file(&image);
	return 0;
}

static int check_program(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* As execvp() does: a name with a slash is a path, another one is looked for in PATH. */
static int find_program(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");
	int found = -ENOENT;

	if (strchr(name, '/')) {
		snprintf(ret, size, "%s", name);
		return check_program(name);
	}
	if (!path)
		path = DEFAULT_PATH;
	for (;;) {
		size_t length = strcspn(path, ":");
		int r;

		snprintf(ret, size, "%.*s%s%s", (int)length, path, length ? "/" : "./", name);
		r = check_program(ret);
		if (r == 0)
			return 0;
		if (r == -EACCES)
			found = r;
		if (!path[length])
			return found;
		path += length + 1;
	}
}

/*
 * What the first line of a script runs: of `env`, that which env is to find. "" without such a
 * line; then a shell runs it.
 */
static void read_first_line(const struct image *image, char *ret, size_t size)
{
	char line[FIRST_LINE + 1], *state, *word;
	size_t length = image->size < FIRST_LINE ? image->size : FIRST_LINE;

	snprintf(ret, size, "/bin/sh");
	if (length < 3 || memcmp(image->bytes, "#!", 2) != 0)
		return;
	memcpy(line, image->bytes + 2, length - 2);
	line[length - 2] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line, " \t", &state);
	if (!word)
		return;
	snprintf(ret, size, "%s", word);
	if (strcmp(strrchr(word, '/') ? strrchr(word, '/') : word, "/env") != 0)
		return;
	while ((word = strtok_r(NULL, " \t", &state)))
		if (word[0] != '-' && !strchr(word, '=')) {
			snprintf(ret, size, "%s", word);
			return;
		}
}

int target_find(const char *name, struct target *ret)
{
	char path[2 * PATH_MAX], next[PATH_MAX], script[PATH_MAX] = "";
	struct image image;
	int r;

	*ret = (struct target){0};
	snprintf(next, sizeof(next), "%s", name);
	for (int depth = 0; depth < MOST_SCRIPTS; depth++) {
		r = find_program(next, path, sizeof(path));
		if (r < 0) {
			snprintf(ret->path, sizeof(ret->path), "%s", next);
			snprintf(ret->script, sizeof(ret->script), "%s", script);
			return r;
		}
		r = map_file(path, &image);
		/* What may be run and not be read: nothing is known of it, and it may well work. */
		if (r < 0 || is_elf(&image)) {
			if (r == 0)
				unmap_file(&image);
			r = target_read(path, ret);
			snprintf(ret->script, sizeof(ret->script), "%s", script);
			return r;
		}
		if (!depth)
			snprintf(script, sizeof(script), "%.*s", PATH_MAX - 1, path);
		read_first_line(&image, next, sizeof(next));
		unmap_file(&image);
	}
	return -ELOOP;
}

enum target_problem target_problem(const struct target *program, const struct target *library)
{
	if (!program->elf_class)
		return TARGET_NO_PROGRAM;
	if (program->elf_class != library->elf_class)
		return TARGET_OTHER_CLASS;
	if (program->machine != library->machine)
		return TARGET_OTHER_MACHINE;
	if (!program->loader[0])
		return TARGET_STATIC;
	if (strstr(program->loader, "ld-musl"))
		return TARGET_MUSL;
	return program->is_secure ? TARGET_SECURE : TARGET_FINE;
}

static const struct {
	const char *text, *fix;
} PROBLEMS[TARGET_PROBLEM_MAX] = {
	[TARGET_NO_PROGRAM] = {"is no program that could be read", "name a program or a script"},
	[TARGET_OTHER_CLASS] = {"is of another word size (32 or 64 bits) than the library",
				"use a build of it that is as the library"},
	[TARGET_OTHER_MACHINE] = {"is for another kind of processor than the library",
				  "build dlprof for that one, and run both there"},
	[TARGET_STATIC] = {"is statically linked: nothing can be preloaded into it",
			   "use a dynamically linked build of it"},
	[TARGET_MUSL] = {"is linked with musl, in which dlprof records nothing",
			 "use a build for glibc (a Debian- or RHEL-based image)"},
	[TARGET_SECURE] = {"is setuid, setgid or has file capabilities, so that LD_PRELOAD is "
			   "ignored",
			   "run the training by a copy of it without them"},
};

const char *target_problem_text(enum target_problem problem)
{
	return PROBLEMS[problem].text;
}

const char *target_problem_fix(enum target_problem problem)
{
	return PROBLEMS[problem].fix;
}

static bool defines(const struct image *image, const Elf64_Shdr *symbols, const Elf64_Shdr *strings,
		    const char *symbol)
{
	const Elf64_Sym *at = part(image, symbols->sh_offset, symbols->sh_size);

	if (!at || symbols->sh_offset % 8)
		return false;
	for (size_t i = 0; i < symbols->sh_size / sizeof(*at); i++) {
		const char *name;

		if (at[i].st_shndx == SHN_UNDEF)
			continue;
		name = string_at(image, strings->sh_offset + at[i].st_name);
		if (name && strcmp(name, symbol) == 0)
			return true;
	}
	return false;
}

bool target_exports(const char *path, const char *symbol)
{
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections = NULL;
	struct image image;
	bool found = false;

	if (map_file(path, &image) < 0)
		return false;
	header = part(&image, 0, sizeof(*header));
	if (header && is_elf(&image) && header->e_ident[EI_CLASS] == ELFCLASS64 &&
	    header->e_shentsize == sizeof(*sections) && header->e_shoff % 8 == 0)
		sections = part(&image, header->e_shoff,
				(uint64_t)header->e_shnum * sizeof(*sections));
	for (size_t i = 0; sections && !found && i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_DYNSYM && sections[i].sh_link < header->e_shnum)
			found = defines(&image, &sections[i], &sections[sections[i].sh_link],
					symbol);
	unmap_file(&image);
	return found;
}

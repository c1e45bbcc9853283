/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "drain/modules/elf.h"

#define MOST_SCRIPTS 5
#define OLDEST_MINOR 8   /* audit hooks came with Python 3.8 */
#define FIRST_LINE   256 /* bytes of a script that the kernel reads */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

static int open_file(const char *path, struct elf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = elf_open(fd, ret);
	close(fd);
	return r;
}

static void take_needed(void *context, const char *name)
{
	struct target *target = context;

	if (strncmp(name, "libasan", 7) == 0)
		snprintf(target->asan, sizeof(target->asan), "%s", name);
	if (strncmp(name, "libpython", 9) == 0)
		snprintf(target->libpython, sizeof(target->libpython), "%s", name);
}

/* Reads a program, but only its header if its ELF class rules out a preload. */
static void read_elf(const struct elf *elf, struct target *ret)
{
	const Elf64_Ehdr *header = elf_part(elf, 0, sizeof(*header));

	ret->elf_class = elf->bytes[EI_CLASS];
	if (!header)
		return;
	ret->machine = header->e_machine; /* at the same offset in both classes */
	for (size_t i = 0; i < elf->header_count; i++) {
		const char *loader = elf->headers[i].p_type == PT_INTERP
					     ? elf_string(elf, elf->headers[i].p_offset)
					     : NULL;

		if (loader)
			snprintf(ret->loader, sizeof(ret->loader), "%s", loader);
	}
	elf_each_needed(elf, take_needed, ret);
}

/* Returns true if ld.so ignores LD_PRELOAD when it loads this program. */
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
	struct elf elf;
	int r;

	*ret = (struct target){0};
	snprintf(ret->path, sizeof(ret->path), "%.*s", PATH_MAX - 1, path);
	r = open_file(path, &elf);
	if (r < 0)
		return r;
	if (elf_is(&elf))
		read_elf(&elf, ret);
	ret->is_secure = is_secure(path);
	elf_close(&elf);
	return 0;
}

static int check_program(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* Finds a program in PATH, as execvp() does. */
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

/* Finds the interpreter of a script, or the program that `env` starts; without "#!", /bin/sh. */
static void read_first_line(const struct elf *elf, char *ret, size_t size)
{
	char line[FIRST_LINE + 1], *state, *word;
	size_t length = elf->size < FIRST_LINE ? elf->size : FIRST_LINE;

	snprintf(ret, size, "/bin/sh");
	if (length < 3 || memcmp(elf->bytes, "#!", 2) != 0)
		return;
	memcpy(line, elf->bytes + 2, length - 2);
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
	struct elf elf;
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
		r = open_file(path, &elf);
		/* A file that can be executed, but not read, counts as a program. */
		if (r < 0 || elf_is(&elf)) {
			if (r == 0)
				elf_close(&elf);
			r = target_read(path, ret);
			snprintf(ret->script, sizeof(ret->script), "%s", script);
			return r;
		}
		if (!depth)
			snprintf(script, sizeof(script), "%.*s", PATH_MAX - 1, path);
		read_first_line(&elf, next, sizeof(next));
		elf_close(&elf);
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

const struct target_words target_words[TARGET_PROBLEM_MAX] = {
	[TARGET_NO_PROGRAM] = {"is not a program that can be read", "name a program or a script"},
	[TARGET_OTHER_CLASS] = {"is of another word size (32 or 64 bits) than the library",
				"use a build with the library's word size"},
	[TARGET_OTHER_MACHINE] = {"is for another kind of processor than the library",
				  "build dlprof for that processor, and run both on it"},
	[TARGET_STATIC] = {"is statically linked: nothing can be preloaded into it",
			   "use a dynamically linked build of it"},
	[TARGET_MUSL] = {"is linked with musl, in which dlprof records nothing",
			 "use a build for glibc (a Debian- or RHEL-based image)"},
	[TARGET_SECURE] = {"is setuid, setgid or has file capabilities, so that LD_PRELOAD is "
			   "ignored",
			   "run a copy of it that has none of these"},
};

bool target_exports(const char *path, const char *symbol)
{
	struct elf elf;
	bool found;

	if (open_file(path, &elf) < 0)
		return false;
	found = elf_export(&elf, symbol) != NULL;
	elf_close(&elf);
	return found;
}

const char *target_unfollowed(const struct target *program)
{
	const char *free = "runs without a global lock";
	int minor = 0;
	char flag = '\0';

	if (sscanf(program->libpython, "libpython3.%d%c", &minor, &flag) >= 1)
		return flag == 't' ? free : minor < OLDEST_MINOR ? "is older than 3.8" : NULL;
	if (strncmp(basename(program->path), "python", 6) != 0)
		return NULL;
	if (target_exports(program->path, "_Py_MergeZeroLocalRefcount"))
		return free;
	return target_exports(program->path, "PySys_AddAuditHook")
		       ? NULL
		       : "is older than 3.8, or hides its functions";
}

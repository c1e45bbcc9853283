/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dlprof/place.h"
#include "drain/base/process.h"

#define INJECTION "CUDA_INJECTION64_PATH"
#define LIBRARY   "libdlprof.so"

/* Reads the first line of a file. Returns its length; 0 if there is no line. */
static int read_line(const char *path, char *ret, size_t size)
{
	return process_line(path, ret, size) ? (int)strlen(ret) : 0;
}

static int find(const char *from, const char *name, const char *installed, struct trust_search *ret)
{
	*ret = (struct trust_search){.from = from, .look = lstat, .read = read_line};
	return trust_find(ret, geteuid(), name, installed);
}

static int find_own(const char *name, const char *installed, struct trust_search *ret)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -errno;
	self[length] = '\0';
	return find(self, name, installed, ret);
}

/* Finds the library. If the user named one, it is trusted without a check. */
static int locate(const char *given, struct preload *ret)
{
	char path[PATH_MAX];
	struct trust_search search = {.path = ""};
	int r;

	if (given) {
		snprintf(ret->library, sizeof(ret->library), "%s", given);
		if (!realpath(given, path))
			return -errno;
		snprintf(ret->library, sizeof(ret->library), "%s", path);
		return 0;
	}
	r = find_own(LIBRARY, PLACE_LIBRARY_FOLDER, &search);
	snprintf(ret->library, sizeof(ret->library), "%s", *search.path ? search.path : LIBRARY);
	ret->trust = search.trust;
	return r;
}

int preload_find(const char *given, struct preload *ret)
{
	int r;

	*ret = (struct preload){0};
	r = locate(given, ret);
	if (r == 0)
		r = target_read(ret->library, &ret->image);
	if (r < 0)
		return r;
	if (!ret->image.elf_class)
		return -ENOEXEC;
	return strpbrk(ret->library, " :\t\n") ? -EINVAL : 0;
}

const char *preload_error(const struct preload *preload, int error)
{
	if (preload->trust)
		return trust_text(preload->trust);
	switch (-error) {
	case ENOEXEC:
		return "it is not a library";
	case EINVAL:
		return "LD_PRELOAD cannot hold a path with blanks or colons; move or link it";
	default:
		return strerror(-error);
	}
}

static bool is_asan(const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length), *name = slash ? slash + 1 : path;

	return strncmp(name, "libasan", 7) == 0 || strncmp(name, "libclang_rt.asan", 16) == 0;
}

static bool add(char *ret, size_t size, const char *entry, size_t length)
{
	size_t used = strlen(ret);

	if (used + length + 2 > size)
		return false;
	snprintf(ret + used, size - used, "%s%.*s", used ? ":" : "", (int)length, entry);
	return true;
}

/* Adds the sanitizers' runtimes in `existing` or, without `asan`, all the rest but `library`. */
static bool add_entries(const char *existing, bool asan, const char *library, char *ret,
			size_t size)
{
	while (existing && *existing) {
		size_t length = strcspn(existing, ": \t");

		if (length && is_asan(existing, length) == asan &&
		    !(strlen(library) == length && strncmp(library, existing, length) == 0) &&
		    !add(ret, size, existing, length))
			return false;
		existing += length + (existing[length] != '\0');
	}
	return true;
}

/*
 * Writes a value of LD_PRELOAD. AddressSanitizer ends the program if its runtime does not come
 * first. `asan`: the runtime that the program needs, or "". -E2BIG: there is no room.
 */
static int join_preloads(const char *existing, const char *library, const char *asan, char *ret,
			 size_t size)
{
	bool fits;

	ret[0] = '\0';
	fits = add_entries(existing, true, library, ret, size);
	if (fits && !*ret && *asan)
		fits = add(ret, size, asan, strlen(asan));
	fits = fits && add(ret, size, library, strlen(library)) &&
	       add_entries(existing, false, library, ret, size);
	return fits ? 0 : -E2BIG;
}

bool preload_injects(const struct preload *preload)
{
	const char *cuda = getenv("DLPROF_CUDA");

	/* CUDA does not start if the injected library lacks InitializeInjection(). */
	return (!cuda || strcmp(cuda, "off") != 0) &&
	       target_exports(preload->library, "InitializeInjection");
}

int preload_set(const struct preload *preload, const struct target *program)
{
	char value[4 * PATH_MAX];
	int r = join_preloads(getenv("LD_PRELOAD"), preload->library, program->asan, value,
			      sizeof(value));

	if (r < 0)
		return r;
	/* The library begins a new run, even if dlprof was started by a recorded program. */
	unsetenv("DLPROF_RUN");
	unsetenv("DLPROF_LIFE");
	if (setenv("LD_PRELOAD", value, 1) < 0)
		return -errno;
	if (!getenv(INJECTION) && preload_injects(preload) &&
	    setenv(INJECTION, preload->library, 0) < 0)
		return -errno;
	return 0;
}

int preload_find_drain(const struct preload *preload, struct trust_search *ret)
{
	int r = find(preload->library, "dlprof-drain", PLACE_DRAIN_FOLDER, ret);

	return r == 0 && access(ret->path, X_OK) < 0 ? -EACCES : r;
}

int preload_find_report(struct trust_search *ret)
{
	return find_own("dlprof-report", NULL, ret);
}

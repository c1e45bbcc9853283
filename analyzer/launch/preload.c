/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INJECTION "CUDA_INJECTION64_PATH"

/* From the folder of this program: build tree, then installed. LAUNCH_LIBDIR is from bin to lib. */
static const char *const LIBRARIES[] = {
	"/../shim/libdlprof.so",
	"/" LAUNCH_LIBDIR "/libdlprof.so",
	"/../lib/libdlprof.so",
	"/libdlprof.so",
};

static const char *const DRAINS[] = {
#define DRAIN_PLACE(path) path,
#include "dlprof/drain.def"
#undef DRAIN_PLACE
};

static int beside(const char *of, const char *name, char *ret, size_t size)
{
	char path[PATH_MAX], whole[PATH_MAX];
	const char *slash = strrchr(of, '/');

	if (!slash ||
	    snprintf(path, sizeof(path), "%.*s%s", (int)(slash - of), of, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* Without the dots, so that it reads well and stays true if somebody changes folder. */
	if (!realpath(path, whole))
		return -errno;
	if (strlen(whole) >= size)
		return -ENAMETOOLONG;
	strcpy(ret, whole);
	return 0;
}

static int beside_self(const char *name, char *ret, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return -errno;
	self[length] = '\0';
	return beside(self, name, ret, size);
}

static int locate(const char *given, char *ret, size_t size)
{
	char path[PATH_MAX];
	int r = -ENOENT;

	if (given) {
		snprintf(ret, size, "%s", given);
		if (!realpath(given, path))
			return -errno;
		snprintf(ret, size, "%s", path);
		return 0;
	}
	for (size_t i = 0; r < 0 && i < sizeof(LIBRARIES) / sizeof(*LIBRARIES); i++)
		r = beside_self(LIBRARIES[i], ret, size);
	if (r < 0)
		snprintf(ret, size, "libdlprof.so");
	return r;
}

int preload_find(const char *given, struct preload *ret)
{
	int r;

	*ret = (struct preload){0};
	r = locate(given, ret->library, sizeof(ret->library));
	if (r == 0)
		r = target_read(ret->library, &ret->image);
	if (r < 0)
		return r;
	if (!ret->image.elf_class)
		return -ENOEXEC;
	return strpbrk(ret->library, " :\t\n") ? -EINVAL : 0;
}

const char *preload_error(int error)
{
	switch (-error) {
	case ENOEXEC:
		return "it is no library";
	case EINVAL:
		return "LD_PRELOAD cannot hold a path with blanks or colons; move or link it";
	default:
		return strerror(-error);
	}
}

static const char *base_name(const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length);

	return slash ? slash + 1 : path;
}

static bool is_asan(const char *path, size_t length)
{
	const char *name = base_name(path, length);

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

/* Those entries that are (not) the sanitizer's; ours is added once. */
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

int preload_join(const char *existing, const char *library, const char *asan, char *ret,
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

	/* CUDA refuses to come up with a library that lacks the function. */
	return (!cuda || strcmp(cuda, "off") != 0) &&
	       target_exports(preload->library, "InitializeInjection");
}

int preload_set(const struct preload *preload, const struct target *program)
{
	char value[4 * PATH_MAX];
	int r = preload_join(getenv("LD_PRELOAD"), preload->library, program->asan, value,
			     sizeof(value));

	if (r < 0)
		return r;
	if (setenv("LD_PRELOAD", value, 1) < 0)
		return -errno;
	if (!getenv(INJECTION) && preload_injects(preload) &&
	    setenv(INJECTION, preload->library, 0) < 0)
		return -errno;
	return 0;
}

int preload_find_drain(const struct preload *preload, char *ret, size_t size)
{
	int found = -ENOENT;

	for (size_t i = 0; i < sizeof(DRAINS) / sizeof(*DRAINS); i++) {
		char path[PATH_MAX];

		if (beside(preload->library, DRAINS[i], path, sizeof(path)) < 0)
			continue;
		if (found == -ENOENT || access(path, X_OK) == 0)
			snprintf(ret, size, "%s", path);
		if (access(path, X_OK) == 0)
			return 0;
		found = -EACCES;
	}
	return found;
}

int preload_find_report(char *ret, size_t size)
{
	return beside_self("/dlprof-report", ret, size);
}

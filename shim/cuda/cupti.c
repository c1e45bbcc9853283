/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "hooks/dl.h"

struct cupti cupti;

/* Until CUDA 11 the name had the minor version. */
static const char *const sonames[] = {
	"libcupti.so.13",   "libcupti.so.14",
	"libcupti.so.12",   "libcupti.so.11.8",
	"libcupti.so.11.7", "libcupti.so.11.6",
	"libcupti.so.11.5", "libcupti.so.11.4",
	"libcupti.so.11.3", "libcupti.so.11.2",
	"libcupti.so.11.1", "libcupti.so.11.0",
	"libcupti.so",      NULL,
};

/* Beside libcudart: a wheel of CUDA 13, a wheel before that, a toolkit. */
static const char *const beside[] = {
	"/",  "/../../cuda_cupti/lib/", "/../extras/CUPTI/lib64/", "/../../../extras/CUPTI/lib64/",
	NULL,
};

void *cupti_mapped(void)
{
	void *library = NULL;

	for (int i = 0; sonames[i] && !library; i++)
		library = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);
	return library;
}

/* The mapped libcudart: its folder, and the major version in its name; 0: not there. */
struct runtime {
	char folder[512];
	int major;
};

static int find_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	struct runtime *runtime = data;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	const char *number;

	(void)size;
	if (!slash || strncmp(slash, "/libcudart.so.", 14) != 0 ||
	    (size_t)(slash - info->dlpi_name) >= sizeof(runtime->folder))
		return 0;
	for (number = slash + 14; *number >= '0' && *number <= '9'; number++)
		runtime->major = runtime->major * 10 + (*number - '0');
	memcpy(runtime->folder, info->dlpi_name, (size_t)(slash - info->dlpi_name));
	return 1;
}

static int major_of(uint32_t version)
{
	if (version >= 100000)
		return (int)(version / 10000);
	return version >= 18 ? 12 : 11;
}

static bool is_file(const char *path)
{
	return sys_call3(SYS_faccessat, AT_FDCWD, path, 4 /* R_OK */) == 0;
}

static void *open_in(const char *folder, const char *below)
{
	void *library = NULL;

	for (int i = 0; sonames[i] && !library; i++) {
		TEXT(path, 768);

		text_add(&path, folder);
		text_add(&path, below);
		text_add(&path, sonames[i]);
		if (!path.cut && is_file(path.buffer))
			library = dlopen(path.buffer, RTLD_LAZY | RTLD_LOCAL);
	}
	return library;
}

/* Nothing of the host's is loaded yet that wants one, or it would be mapped: a choice of ours. */
static void *open_library(const struct runtime *runtime)
{
	const char *toolkit = getenv("CUDA_HOME");
	void *library = NULL;

	if (runtime->folder[0])
		for (int i = 0; beside[i] && !library; i++)
			library = open_in(runtime->folder, beside[i]);
	for (int i = 0; sonames[i] && !library; i++) {
		TEXT(own, 32);

		/* By its bare name only the one of the runtime's version: any other is a wrong one.
		 */
		text_add(&own, "libcupti.so.");
		text_add_number(&own, runtime->major);
		if (!runtime->major || strncmp(sonames[i], own.buffer, own.length) == 0)
			library = dlopen(sonames[i], RTLD_LAZY | RTLD_LOCAL);
	}
	if (!toolkit || toolkit[0] != '/')
		toolkit = "/usr/local/cuda";
	if (!library)
		library = open_in(toolkit, "/extras/CUPTI/lib64/");
	return library ? library : open_in(toolkit, "/lib64/");
}

static int fill(struct cupti *found)
{
#define NEED(name, params)                                                                         \
	found->name = (int(*) params)dl_real(found->library, "cupti" #name);                       \
	if (!found->name)                                                                          \
		return -ENOENT;
#define MAY(name, params) found->name = (int(*) params)dl_real(found->library, "cupti" #name);
#include "cuda/cupti.def"
#undef NEED
#undef MAY
	return found->GetVersion(&found->version) == 0 ? 0 : -EIO;
}

int cupti_find(struct text *why)
{
	const char *chosen = getenv("DLPROF_LIBCUPTI");
	struct runtime runtime = {.major = 0};
	struct cupti found = {0};

	dl_iterate_phdr(find_runtime, &runtime);
	if (chosen && chosen[0])
		found.library = dlopen(chosen, RTLD_LAZY | RTLD_LOCAL);
	else
		found.library = cupti_mapped();
	if (!found.library && !chosen)
		found.library = open_library(&runtime);
	if (!found.library) {
		text_add(why, chosen && chosen[0] ? "DLPROF_LIBCUPTI cannot be loaded"
						  : "no libcupti was found");
		return -ENOENT;
	}
	if (fill(&found) < 0) {
		text_add(why, "libcupti lacks functions of CUDA 11.0");
		return -ENOENT;
	}
	if (found.version < CUPTI_VERSION_LEAST) {
		text_add(why, "libcupti is older than CUDA 11.0");
		return -EPROTONOSUPPORT;
	}
	if (runtime.major && major_of(found.version) != runtime.major) {
		text_add(why, "libcupti is of CUDA ");
		text_add_number(why, major_of(found.version));
		text_add(why, ", libcudart of CUDA ");
		text_add_number(why, runtime.major);
		return -EPROTONOSUPPORT;
	}
	cupti = found;
	return 0;
}

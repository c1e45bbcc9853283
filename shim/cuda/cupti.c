/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cupti.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/folder.h"
#include "slots/elf.h"
#include "slots/lookup.h"
#include "slots/module.h"

struct cupti cupti;

static const char *const sonames[] = {
	"libcupti.so.13",   "libcupti.so.14",
	"libcupti.so.12",   "libcupti.so.11.8",
	"libcupti.so.11.7", "libcupti.so.11.6",
	"libcupti.so.11.5", "libcupti.so.11.4",
	"libcupti.so.11.3", "libcupti.so.11.2",
	"libcupti.so.11.1", "libcupti.so.11.0",
	"libcupti.so",      NULL,
};

/* where libcupti is, relative to libcudart: in wheels of CUDA 13, in older wheels, in toolkits */
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

struct runtime {
	char folder[512];
	int major;
	int wanted;
};

static int leading_number(const char *text)
{
	uint64_t number;

	return dlprof_take_number(&text, &number) && number < 1000 ? (int)number : 0;
}

static int find_runtime(struct dl_phdr_info *info, size_t size, void *data)
{
	struct runtime *runtime = data;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	int major;

	if (!slash || strncmp(slash, "/libcudart.so.", 14) != 0 ||
	    (size_t)(slash - info->dlpi_name) >= sizeof(runtime->folder))
		return 0;
	major = leading_number(slash + 14);
	if (runtime->wanted && major != runtime->wanted)
		return 0;
	runtime->major = major;
	memcpy(runtime->folder, info->dlpi_name, (size_t)(slash - info->dlpi_name));
	return 1;
}

struct named {
	uintptr_t address;
	int major;
};

static int find_soname(struct dl_phdr_info *info, size_t size, void *data)
{
	struct named *named = data;
	struct elf_module module;

	if (elf_open(&module, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0 ||
	    !elf_covers(&module, named->address, 1, PF_X))
		return 0;
	if (module.soname && strncmp(module.soname, "libcupti.so.", 12) == 0)
		named->major = leading_number(module.soname + 12);
	return 1;
}

/* Returns CUPTI's major version; 0: unknown. cuptiGetVersion() is the same in 11.8, 12.0, 12.1. */
static int major_of(const struct cupti *found)
{
	struct named named = {(uintptr_t)found->GetVersion, 0};

	module_walk(find_soname, &named);
	return named.major;
}

void *cupti_driver(const char *function)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	return driver ? lookup_real(driver, function) : NULL;
}

/* Returns the driver's major version, or 0 if there is no driver. */
static int driver_major(void)
{
	int (*get)(int *version) = (int (*)(int *))cupti_driver("cuDriverGetVersion");
	int version = 0;

	return get && get(&version) == 0 ? version / 1000 : 0;
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

		text_format(&path, "%s%s%s", folder, below, sonames[i]);
		if (!path.cut && is_file(path.buffer))
			library = dlopen(path.buffer, RTLD_LAZY | RTLD_LOCAL);
	}
	return library;
}

static void *open_library(const struct runtime *runtime)
{
	const char *toolkit = getenv("CUDA_HOME");
	void *library = NULL;

	if (runtime->folder[0])
		for (int i = 0; beside[i] && !library; i++)
			library = open_in(runtime->folder, beside[i]);
	for (int i = 0; sonames[i] && !library; i++) {
		TEXT(own, 32);

		/* A library that is found by name alone must have the runtime's version. */
		text_format(&own, "libcupti.so.%d", runtime->major);
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
	found->name = (int(*) params)lookup_real(found->library, "cupti" #name);                   \
	if (!found->name)                                                                          \
		return -ENOENT;
#define MAY(name, params) found->name = (int(*) params)lookup_real(found->library, "cupti" #name);
#include "cuda/cupti.def"
	return 0;
}

static int fail(struct text *why, const char *text, int error)
{
	text_add(why, text);
	return error;
}

static int mismatch(struct text *why, int major, const char *other, int other_major)
{
	text_format(why, "libcupti is of CUDA %d, %s of CUDA %d", major, other, other_major);
	return -EPROTONOSUPPORT;
}

/* Returns 0 if CUPTI is not newer than the driver, and has a mapped libcudart's version, if any. */
static int fits(const struct cupti *found, const struct runtime *runtime, int driver,
		struct text *why)
{
	int major = major_of(found);
	struct runtime same = {.wanted = major};

	if (major > driver)
		return mismatch(why, major, "the driver", driver);
	if (!major || !runtime->major || module_walk(find_runtime, &same))
		return 0;
	return mismatch(why, major, "libcudart", runtime->major);
}

int cupti_find(struct text *why)
{
	const char *chosen = getenv("DLPROF_LIBCUPTI");
	struct runtime runtime = {.major = 0};
	struct cupti found = {0};
	int driver = driver_major(), r;

	/* Without a driver, functions of CUPTI 13.2 recurse endlessly. */
	if (!driver)
		return fail(why, "no driver of CUDA is loaded", -ENODEV);
	if (chosen && !chosen[0])
		chosen = NULL;
	module_walk(find_runtime, &runtime);
	if (chosen)
		found.library = dlopen(chosen, RTLD_LAZY | RTLD_LOCAL);
	else
		found.library = cupti_mapped();
	if (!found.library && !chosen)
		found.library = open_library(&runtime);
	if (!found.library && chosen)
		return fail(why, "DLPROF_LIBCUPTI cannot be loaded", -ENOENT);
	if (!found.library)
		return fail(why, "no libcupti was found", -ENOENT);
	if (fill(&found) < 0)
		return fail(why, "libcupti lacks functions of CUDA 11.0", -ENOENT);
	r = fits(&found, &runtime, driver, why);
	if (r < 0)
		return r;
	r = found.GetVersion(&found.version);
	if (r != 0) {
		text_format(why, "libcupti does not work here (cuptiGetVersion said %d)", r);
		return -EIO;
	}
	if (found.version < CUPTI_VERSION_LEAST)
		return fail(why, "libcupti is older than CUDA 11.0", -EPROTONOSUPPORT);
	cupti = found;
	return 0;
}

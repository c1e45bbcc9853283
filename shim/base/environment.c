/* SPDX-License-Identifier: Apache-2.0 */
#include "base/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/sys.h"
#include "base/text.h"

extern char **environ;

size_t environment_count(void)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	return count;
}

size_t environment_copy(char **copy, size_t count, const char *const *without)
{
	char **before = environ, *entry;
	size_t kept = 0;

	for (size_t i = 0; before && i < count; i++) {
		const char *const *name = without;

		entry = __atomic_load_n(&before[i], __ATOMIC_RELAXED);
		if (!entry)
			break;
		while (*name && strncmp(entry, *name, strlen(*name)) != 0)
			name++;
		if (!*name)
			copy[kept++] = entry;
	}
	copy[kept] = NULL;
	return kept;
}

/* The old array stays mapped, because another thread's getenv() may be walking it. */
int environment_set(const char *name, const char *value)
{
	const char *const without[] = {name, NULL};
	size_t count = environment_count(), kept, length = strlen(name);
	size_t size = (count + 2) * sizeof(char *) + length + (value ? strlen(value) : 0) + 1;
	char **copy = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	char *entry;

	if (sys_mmap_failed(copy))
		return -ENOMEM;
	kept = environment_copy(copy, count, without);
	if (value) {
		entry = (char *)(copy + count + 2);
		memcpy(entry, name, length);
		strcpy(entry + length, value);
		copy[kept++] = entry;
	}
	copy[kept] = NULL;
	__atomic_store_n(&environ, copy, __ATOMIC_RELEASE);
	return 0;
}

const char *environment_own_path(void)
{
	static const char here;
	static char own[1024];
	struct text path;
	Dl_info info;
	long r;

	if (own[0])
		return own;
	if (!dladdr(&here, &info) || !info.dli_fname || !strchr(info.dli_fname, '/'))
		return NULL;
	text_init(&path, own, sizeof(own));
	if (info.dli_fname[0] != '/') {
		r = sys_call2(SYS_getcwd, own, sizeof(own));
		if (r <= 0 || own[0] != '/') {
			own[0] = '\0';
			return NULL;
		}
		path.length = strlen(own);
		text_add(&path, "/");
	}
	text_add(&path, info.dli_fname);
	if (path.cut)
		own[0] = '\0';
	return own[0] ? own : NULL;
}

static void assign(const char *name, const char *value)
{
	TEXT(assigned, 64);

	text_format(&assigned, "%s=", name);
	environment_set(assigned.buffer, value);
}

void environment_inject(const char *name)
{
	/* Any path of the library will do: dlopen() knows a loaded library by device and inode. */
	if (!getenv(name) && environment_own_path())
		assign(name, environment_own_path());
}

static bool is_own(const char *value)
{
	return environment_own_path() && strcmp(value, environment_own_path()) == 0;
}

void environment_withdraw(const char *name)
{
	const char *value = getenv(name);

	if (value && is_own(value))
		assign(name, NULL);
}

bool environment_is_others(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] && !is_own(value);
}

bool environment_has(const char *prefix)
{
	char **entry = environ;

	while (entry && *entry && strncmp(*entry, prefix, strlen(prefix)) != 0)
		entry++;
	return entry && *entry;
}

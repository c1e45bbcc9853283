/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.c - the real functions, and what stands in for them before our constructor has run.
 *
 * Allocators and other libraries' constructors come first and call open, read and close. A lookup
 * there can deadlock (it may allocate inside the allocator's own start), so those rows do their
 * work by the system call; only what has none, stdio, is looked up early.
 */
#include "hooks/hook.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

#define EARLY_CALL(nr, args)  syscall EARLY_PREFIX(nr, args)
#define EARLY_PREFIX(nr, ...) EARLY_JOIN(nr, EARLY_STRIP __VA_ARGS__)
#define EARLY_STRIP(...)      __VA_ARGS__
#define EARLY_JOIN(nr, ...)   (nr, __VA_ARGS__)

/* Rows with a system call return integers; the cast is for those without, which never use it. */
#define EARLY(nr, type, name, params, args)                                                        \
	static type early_##name params                                                            \
	{                                                                                          \
		if (nr)                                                                            \
			return (type)EARLY_CALL(nr, args);                                         \
		real_resolve();                                                                    \
		return real.name args;                                                             \
	}
#define HOOK(family, nr, type, name, params, args) EARLY(nr, type, name, params, args)
#define HOOK_BY_HAND(nr, type, name, params, args) EARLY(nr, type, name, params, args)
#define HOOK_VARIADIC(nr, type, name, params, args)
#include "hooks/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
#undef HOOK_VARIADIC

/* The mode may not be there; then the kernel ignores what we read instead. */
#define EARLY_OPEN(nr, name, params, folder, ...)                                                  \
	static int early_##name params                                                             \
	{                                                                                          \
		va_list values;                                                                    \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(values, flags);                                                           \
		mode = va_arg(values, mode_t);                                                     \
		va_end(values);                                                                    \
		return (int)syscall(SYS_openat, folder, path, flags, mode);                        \
	}
EARLY_OPEN(SYS_open, open, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(SYS_open, open64, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(SYS_open, __open, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(SYS_open, __open64, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(SYS_openat, openat, (int folder, const char *path, int flags, ...), folder)
EARLY_OPEN(SYS_openat, openat64, (int folder, const char *path, int flags, ...), folder)

#define EARLY_SCAN(name, list_name)                                                                \
	static int early_##name(FILE *file, const char *format, ...)                               \
	{                                                                                          \
		va_list values;                                                                    \
		int result;                                                                        \
                                                                                                   \
		real_resolve();                                                                    \
		va_start(values, format);                                                          \
		result = real.list_name(file, format, values);                                     \
		va_end(values);                                                                    \
		return result;                                                                     \
	}
EARLY_SCAN(fscanf, vfscanf)
EARLY_SCAN(__isoc99_fscanf, __isoc99_vfscanf)

struct real real = {
#define HOOK(family, nr, type, name, params, args) .name = early_##name,
#define HOOK_BY_HAND(nr, type, name, params, args) .name = early_##name,
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
#undef HOOK_VARIADIC
};

/* All of these names are in glibc 2.34, which the shim needs anyway: no lookup fails, and a
 * failing one would allocate. */
void real_resolve(void)
{
	void *found;

#define HOOK(family, nr, type, name, params, args)                                                 \
	found = dlsym(RTLD_NEXT, #name);                                                           \
	if (found)                                                                                 \
		real.name = (type(*) params)found;
#define HOOK_BY_HAND(nr, type, name, params, args) HOOK(, nr, type, name, params, args)
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
#undef HOOK
#undef HOOK_BY_HAND
#undef HOOK_VARIADIC
}

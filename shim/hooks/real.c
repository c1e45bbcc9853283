/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real.c - the real functions, and their substitutes until our constructor has run.
 *
 * Allocators call open, read and close before that. A lookup could deadlock then, because it may
 * allocate. So functions that have a system call in hooks.def make that call.
 */
#include "hooks/hook.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#include "slots/lookup.h"
#include "slots/next.h"

static void *find_moved(const char *name);

#define EARLY_CALL(nr, args)  hook_syscall_raw EARLY_PREFIX(nr, args)
#define EARLY_PREFIX(nr, ...) EARLY_JOIN(nr, EARLY_STRIP __VA_ARGS__)
#define EARLY_STRIP(...)      __VA_ARGS__
#define EARLY_JOIN(nr, ...)   (nr, __VA_ARGS__)

/* The cast makes rows without a system call compile. */
#define EARLY(nr, type, name, params, args)                                                        \
	static type early_##name params                                                            \
	{                                                                                          \
		if (nr)                                                                            \
			return (type)EARLY_CALL(nr, args);                                         \
		real_resolve();                                                                    \
		if (real.name == early_##name)                                                     \
			real.name = (__typeof__(real.name))find_moved(#name);                      \
		return real.name args;                                                             \
	}
#define HOOK(family, nr, type, name, params, args) EARLY(nr, type, name, params, args)
#define HOOK_BY_HAND(nr, type, name, params, args) EARLY(nr, type, name, params, args)
#define HOOK_VARIADIC(nr, type, name, params, args)
#include "hooks/hooks.def"

/* If the caller passed no mode, the kernel ignores the one that is read here. */
#define EARLY_OPEN(name, params, folder)                                                           \
	static int early_##name params                                                             \
	{                                                                                          \
		HOOK_ARGUMENT(mode_t, mode, flags);                                                \
                                                                                                   \
		return (int)hook_syscall_raw(SYS_openat, folder, path, flags, mode);               \
	}
EARLY_OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(__open, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(__open64, (const char *path, int flags, ...), AT_FDCWD)
EARLY_OPEN(openat, (int folder, const char *path, int flags, ...), folder)
EARLY_OPEN(openat64, (int folder, const char *path, int flags, ...), folder)

#define EARLY_FCNTL(name)                                                                          \
	static int early_##name(int fd, int command, ...)                                          \
	{                                                                                          \
		HOOK_ARGUMENT(void *, value, command);                                             \
                                                                                                   \
		return (int)hook_syscall_raw(SYS_fcntl, fd, command, value);                       \
	}
EARLY_FCNTL(fcntl)
EARLY_FCNTL(fcntl64)
EARLY_FCNTL(__fcntl)

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
EARLY_SCAN(__isoc23_fscanf, __isoc23_vfscanf)

/* An older libc may lack epoll_pwait2(). */
static int early_epoll_pwait2(int epoll, struct epoll_event *events, int count,
			      const struct timespec *timeout, const sigset_t *mask)
{
	return (int)hook_syscall_raw(SYS_epoll_pwait2, epoll, events, count, timeout, mask,
				     (size_t)(_NSIG / 8));
}

static void *early_mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
	HOOK_ARGUMENT(void *, new_address, flags);

	return (void *)hook_syscall_raw(SYS_mremap, address, size, new_size, flags, new_address);
}

static int early_clone(int (*start)(void *), void *stack, int flags, void *argument, ...)
{
	void *more[3];
	va_list values;

	va_start(values, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(values, void *);
	va_end(values);
	real_resolve();
	return real.clone(start, stack, flags, argument, more[0], more[1], more[2]);
}

#define early_syscall hook_syscall_raw
#define early_vfork   hook_vfork_raw

long hook_syscall_failed(long result)
{
	errno = (int)-result;
	return -1;
}

struct real real = {
#define HOOK(family, nr, type, name, params, args) .name = early_##name,
#define HOOK_BY_HAND(nr, type, name, params, args) .name = early_##name,
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
};

/* syscall.S jumps through these fields of `struct real`. */
static_assert(offsetof(struct real, syscall) == 0 && offsetof(struct real, vfork) == 8 &&
		      offsetof(struct real, clone) == 16,
	      "the first rows of hooks.def");

#if defined(__x86_64__)
#define COND_VERSION "GLIBC_2.3.2"
#else
#define COND_VERSION "GLIBC_2.17"
#endif

static const char names[] =
#define HOOK(family, nr, type, name, params, args) #name "\0"
#define HOOK_BY_HAND(nr, type, name, params, args) #name "\0"
#define HOOK_VARIADIC				   HOOK_BY_HAND
#include "hooks/hooks.def"
	;

/* `struct real` is used as an array of functions, in the order of hooks.def. */
#define AT(name) (offsetof(struct real, name) / sizeof(void *))
#define COUNT	 (sizeof(struct real) / sizeof(void *))

/*
 * Names that need more than a lookup. `version`: up to glibc 2.35, dlsym(RTLD_NEXT) finds an older
 * version than this. `since_minor`: earlier releases of glibc lack the name.
 */
static const struct exception {
	char version[12];
	uint8_t since_minor;	/* minor release of glibc 2 that introduced the name */
} exceptions[] = {
	[1] = {.version = COND_VERSION},
	[2] = {.version = "GLIBC_2.34", .since_minor = 34},
	[3] = {.since_minor = 35},
	[4] = {.since_minor = 38},
	[5] = {.since_minor = 30},
	[6] = {.since_minor = 33},
	[7] = {.since_minor = 34},
};

static const uint8_t exception_of[COUNT] = {
	[AT(pthread_cond_wait)] = 1, [AT(pthread_cond_timedwait)] = 1,
	[AT(lio_listio)] = 2,        [AT(lio_listio64)] = 2,
	[AT(epoll_pwait2)] = 3,      [AT(__isoc23_fscanf)] = 4,
	[AT(__isoc23_vfscanf)] = 4,  [AT(getdents64)] = 5,
	[AT(sem_clockwait)] = 5,     [AT(pthread_cond_clockwait)] = 5,
	[AT(stat)] = 6,              [AT(stat64)] = 6,
	[AT(lstat)] = 6,             [AT(lstat64)] = 6,
	[AT(fstat)] = 6,             [AT(fstat64)] = 6,
	[AT(fstatat)] = 6,           [AT(fstatat64)] = 6,
	[AT(close_range)] = 7,       [AT(closefrom)] = 7,
};

/* musl lacks the functions below, and refuses to start if a reference is missing. */
#pragma weak dlvsym
#pragma weak gnu_get_libc_version

static int libc_minor(void)
{
	const char *at = gnu_get_libc_version ? gnu_get_libc_version() : "";
	int minor = 0;

	if (at[0] != '2' || at[1] != '.')
		return at[0] > '2' ? INT_MAX : 0;
	for (at += 2; *at >= '0' && *at <= '9'; at++)
		minor = minor * 10 + (*at - '0');
	return minor;
}

bool real_is_glibc(void)
{
	return gnu_get_libc_version != NULL;
}

static void *find(const char *name, const struct exception *exception, int minor,
		  const struct next_scope *scope)
{
	void *found;

	if (exception->since_minor > minor && real_is_glibc())
		return NULL;
	if (exception->version[0] && dlvsym)
		return dlvsym(RTLD_NEXT, name, exception->version);
	found = next_function(scope, name);
	/* In an older glibc, another library may have the function. It is then looked up at its
	 * first call, and not here, because a lookup that fails would allocate. */
	if (found || (scope->count && minor < 34))
		return found;
	return lookup_real(RTLD_NEXT, name);
}

static long absent(void)
{
	errno = ENOSYS;
	return -1;
}

/* Before 2.34, sem_wait() was in libpthread, aio_read() in librt and dlclose() in libdl. */
static void *find_moved(const char *name)
{
	static const char *const libraries[] = {"libpthread.so.0", "librt.so.1", "libdl.so.2"};
	void *found = NULL;

	/* Do not close the handle: dlclose() may be what is looked up. */
	for (size_t i = 0; !found && i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		found = library ? lookup_real(library, name) : NULL;
	}
	dlerror();
	return found ? found : (void *)(uintptr_t)absent;
}

/* Looks up all functions, and clears dlerror(): musl and old glibc lack some that nobody calls. */
void real_resolve(void)
{
	struct next_scope scope = {.count = 0};
	int minor = libc_minor();
	const char *name = names;

	if (!lookup_real)
		lookup_resolve();
	if (real_is_glibc())
		next_open(&scope, (const void *)(uintptr_t)gnu_get_libc_version);
	for (size_t id = 0; id < COUNT; id++, name += strlen(name) + 1) {
		void *found = find(name, &exceptions[exception_of[id]], minor, &scope);

		if (found)
			((void **)&real)[id] = found;
	}
	if (real.__isoc23_vfscanf == early___isoc23_vfscanf)
		real.__isoc23_vfscanf = real.__isoc99_vfscanf;
	if (minor < 34)
		dlerror();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sys.h - our own system calls. They bypass wrappers and errno, and return the kernel's answer. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* -fvisibility=hidden affects only definitions. On a declaration, this avoids a use of the GOT. */
#define HIDDEN __attribute__((visibility("hidden")))

/* Marks data used when a process starts or ends, on a page that ld.so writes to in any case. */
#define NEAR __attribute__((section(".data")))

/* Marks data that every timed call reads. It is in one cache line. */
#define HOT_DATA __attribute__((section("hot_data")))

/* Keeps a function out of line, so that the usual path saves no registers. */
#define RARELY __attribute__((noinline, cold))

/* Marks functions that run for each sample. They lie side by side on few pages. */
#define OFTEN __attribute__((hot))

/*
 * sys_spawn() runs `child`, which must not return; `stack_end` is aligned. libc's clone() is no
 * choice: GCC 13's libtsan treats each child as a fork, which kills the host.
 */
#if defined(__x86_64__)
static inline long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long sys_spawn(long flags, void *stack_end, void (*child)(void *), void *argument)
{
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "movq %[argument], %%rdi\n\t"
			 "call *%[child]\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(stack_end), "d"(0L), "r"(r10), "r"(r8),
			   [child] "r"(child), [argument] "r"(argument)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long sys_call6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static inline long sys_spawn(long flags, void *stack_end, void (*child)(void *), void *argument)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = flags;
	register void *x1 __asm__("x1") = stack_end;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x0, %[argument]\n\t"
			 "blr %[child]\n\t"
			 "brk 1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [child] "r"(child),
			   [argument] "r"(argument)
			 : "memory");
	return x0;
}
#else
#error "dlprof knows the system call convention of x86-64 and aarch64 only"
#endif

#define sys_call0(nr)		      sys_call6(nr, 0, 0, 0, 0, 0, 0)
#define sys_call1(nr, a)	      sys_call6(nr, (long)(a), 0, 0, 0, 0, 0)
#define sys_call2(nr, a, b)	      sys_call6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys_call3(nr, a, b, c)	      sys_call6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys_call4(nr, a, b, c, d)                                                                  \
	sys_call6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)sys_call4(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

static inline int sys_close(int fd)
{
	return (int)sys_call1(SYS_close, fd);
}

static inline long sys_read(int fd, void *buffer, size_t size)
{
	return sys_call3(SYS_read, fd, buffer, size);
}

static inline long sys_write(int fd, const void *buffer, size_t size)
{
	return sys_call3(SYS_write, fd, buffer, size);
}

static inline void *sys_mmap(size_t size, int protection, int flags, int fd)
{
	return (void *)sys_call6(SYS_mmap, 0, (long)size, protection, flags, fd, 0);
}

static inline bool sys_mmap_failed(const void *address)
{
	return (unsigned long)address >= (unsigned long)-4095;
}

static inline int sys_munmap(void *address, size_t size)
{
	return (int)sys_call2(SYS_munmap, address, size);
}

static inline void sys_nap(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	sys_call2(SYS_nanosleep, &time, NULL);
}

/* Yields `yield_max` times, then naps, because the lock's holder may have lost its core. */
static inline void sys_pause(int try, int yield_max)
{
	if (try < yield_max)
		sys_call0(SYS_sched_yield);
	else
		sys_nap(100000);
}

static inline int sys_getpid(void)
{
	return (int)sys_call0(SYS_getpid);
}

static inline int sys_gettid(void)
{
	return (int)sys_call0(SYS_gettid);
}

static inline int sys_readlink(const char *path, char *buffer, size_t size)
{
	return (int)sys_call4(SYS_readlinkat, AT_FDCWD, path, buffer, size);
}

static inline int sys_lstat(const char *path, struct stat *ret)
{
	return (int)sys_call4(SYS_newfstatat, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
}

static inline int sys_unlink(const char *path)
{
	return (int)sys_call3(SYS_unlinkat, AT_FDCWD, path, 0);
}

static inline int sys_rmdir(const char *path)
{
	return (int)sys_call3(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

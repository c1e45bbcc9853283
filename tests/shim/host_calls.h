/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_calls.h - what the parts of the program share, and declarations of functions that programs
 * are linked to although no header declares them.
 *
 * They have asm labels: the compiler would replace calls of some by others, or refuse wrong calls.
 */
#pragma once

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

extern volatile size_t seven;	/* 7; not known to the compiler, which keeps fortified calls */

/* Shows a result and errno, which is 77 before: a wrapper must not change it on success either. */
#define SHOW(expression) show(#expression, (errno = 77, (long long)(expression)))

void show(const char *what, long long result);
void show_text(const char *text);

/* Shows how a child ends that calls `act`: libc must still end it where it does without dlprof. */
void host_fatal(void (*act)(void));

void host_streams(void);
void host_files(void);
void host_maps(void);
void host_waits(void);

int host_open(const char *path, int flags, ...) __asm__("__open");
int host_open64(const char *path, int flags, ...) __asm__("__open64");
int host_open_2(const char *path, int flags) __asm__("__open_2");
int host_open64_2(const char *path, int flags) __asm__("__open64_2");
int host_openat_2(int folder, const char *path, int flags) __asm__("__openat_2");
int host_openat64_2(int folder, const char *path, int flags) __asm__("__openat64_2");
int host_close(int fd) __asm__("__close");
int host_dup2(int fd, int target) __asm__("__dup2");
ssize_t host_read(int fd, void *buffer, size_t size) __asm__("__read");
ssize_t host_write(int fd, const void *buffer, size_t size) __asm__("__write");
ssize_t host_pread64(int fd, void *buffer, size_t size, off64_t offset) __asm__("__pread64");
ssize_t host_read_chk(int fd, void *buffer, size_t size, size_t room) __asm__("__read_chk");
ssize_t host_pread_chk(int fd, void *buffer, size_t size, long offset, size_t room)
	__asm__("__pread_chk");
ssize_t host_pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room)
	__asm__("__pread64_chk");
size_t host_fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file)
	__asm__("__fread_chk");
size_t host_fread_unlocked_chk(void *buffer, size_t room, size_t size, size_t count, FILE *file)
	__asm__("__fread_unlocked_chk");
char *host_fgets_chk(char *buffer, size_t room, int size, FILE *file) __asm__("__fgets_chk");
char *host_fgets_unlocked_chk(char *buffer, size_t room, int size, FILE *file)
	__asm__("__fgets_unlocked_chk");
ssize_t host_getdelim(char **line, size_t *room, int delimiter, FILE *file)
	__asm__("__getdelim");
ssize_t host_getline(char **line, size_t *room, FILE *file) __asm__("getline");
int host_fscanf(FILE *file, const char *format, ...) __asm__("fscanf");
int host_vfscanf(FILE *file, const char *format, va_list values) __asm__("vfscanf");
/* Names that headers give to fscanf, by the version of C; the last one is of glibc 2.38. */
int host_isoc99_fscanf(FILE *file, const char *format, ...) __asm__("__isoc99_fscanf");
int host_isoc99_vfscanf(FILE *file, const char *format, va_list values)
	__asm__("__isoc99_vfscanf");
int host_isoc23_fscanf(FILE *file, const char *format, ...) __asm__("__isoc23_fscanf")
	__attribute__((weak));
int host_isoc23_vfscanf(FILE *file, const char *format, va_list values)
	__asm__("__isoc23_vfscanf") __attribute__((weak));
int host_fcntl(int fd, int command, ...) __asm__("fcntl");
int host_fcntl_under(int fd, int command, ...) __asm__("__fcntl");
int host_xstat(int version, const char *path, struct stat *status) __asm__("__xstat");
int host_xstat64(int version, const char *path, struct stat64 *status) __asm__("__xstat64");
int host_lxstat(int version, const char *path, struct stat *status) __asm__("__lxstat");
int host_lxstat64(int version, const char *path, struct stat64 *status) __asm__("__lxstat64");
int host_fxstat(int version, int fd, struct stat *status) __asm__("__fxstat");
int host_fxstat64(int version, int fd, struct stat64 *status) __asm__("__fxstat64");
int host_fxstatat(int version, int folder, const char *path, struct stat *status, int flags)
	__asm__("__fxstatat");
int host_fxstatat64(int version, int folder, const char *path, struct stat64 *status, int flags)
	__asm__("__fxstatat64");
int host_poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room)
	__asm__("__poll_chk");
int host_ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		   const sigset_t *mask, size_t room) __asm__("__ppoll_chk");
ssize_t host_recv_chk(int fd, void *buffer, size_t size, size_t room, int flags)
	__asm__("__recv_chk");
ssize_t host_recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
			  struct sockaddr *from, socklen_t *length) __asm__("__recvfrom_chk");
int host_uflow(FILE *file) __asm__("__uflow");
int host_underflow(FILE *file) __asm__("__underflow");

static inline void host_overflow_read(int fd)
{
	char small[4];

	host_read_chk(fd, small, 100, sizeof(small));
}

static inline void host_overflow_stream(FILE *file)
{
	char small[4];

	host_fread_chk(small, sizeof(small), 1, 100, file);
}

/* Calls the checked variants of functions with arguments that pass the check. */
static inline void host_checked(const char *path)
{
	FILE *file = fopen(path, "r");
	char buffer[64] = {0};
	long long results[7] = {
		host_read_chk(fileno(file), buffer, 5, sizeof(buffer)),
		host_pread_chk(fileno(file), buffer, 5, 9, sizeof(buffer)),
		host_pread64_chk(fileno(file), buffer, 5, 19, sizeof(buffer)),
		(long long)host_fread_chk(buffer, sizeof(buffer), 1, 5, file),
		(long long)host_fread_unlocked_chk(buffer, sizeof(buffer), 2, 5, file),
		host_fgets_chk(buffer, sizeof(buffer), 9, file) == buffer,
		host_fgets_unlocked_chk(buffer, sizeof(buffer), 9, file) == buffer,
	};

	for (int i = 0; i < 7; i++)
		printf("checked %d = %lld\n", i, results[i]);
	printf("  \"%s\"\n", buffer);
	fclose(file);
}

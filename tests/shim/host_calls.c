/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_calls.c - calls every wrapped function, with success and with failure, as programs do: here
 * the functions that take descriptors; host_*.c have the others.
 *
 * Prints each result and errno; calls.py compares the text with and without the preload. Built
 * plain, with 64-bit offsets and fortified, since the compiler calls other names in each; and as a
 * module, whose host_main() is called in a load of a DataLoader.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_calls.h"

volatile size_t seven = 7;

void show(const char *what, long long result)
{
	int error = errno;

	printf("%s = %lld, errno %d\n", what, result, error);
	fflush(stdout);
}

void show_text(const char *text)
{
	printf("  \"%.20s\"\n", text ? text : "(null)");
}

static long long show_mode(int fd)
{
	struct stat s;

	return fd < 0 || fstat(fd, &s) < 0 ? -1 : (long long)(s.st_mode & 07777);
}

static void opening(void)
{
	int fd;

	SHOW(fd = open("data", O_RDONLY));
	SHOW(close(fd));
	SHOW(close(fd));
	SHOW(open("absent", O_RDONLY));
	SHOW(open(".", O_WRONLY));
	SHOW(fd = open("made", O_RDWR | O_CREAT | O_EXCL, 0640));
	SHOW(show_mode(fd));
	SHOW(close(fd));
	SHOW(open("made", O_RDWR | O_CREAT | O_EXCL, 0640));
	/* A wrapper that passes on the mode only with O_CREAT would give the file a random one. */
	SHOW((fd = open(".", O_TMPFILE | O_RDWR, 0604)) < 0);
	SHOW(show_mode(fd));
	close(fd);
	SHOW((fd = openat(AT_FDCWD, ".", O_TMPFILE | O_RDWR, 0461)) < 0);
	SHOW(show_mode(fd));
	close(fd);
	SHOW(fd = openat(AT_FDCWD, "data", O_RDONLY | O_CLOEXEC));
	SHOW(fcntl(fd, F_GETFD));
	SHOW(close(fd));
	SHOW(openat(99, "data", O_RDONLY));
	SHOW(fd = openat(AT_FDCWD, "made-at", O_WRONLY | O_CREAT, 0702));
	SHOW(show_mode(fd));
	SHOW(close(fd));
	SHOW(fd = creat("made-creat", 0751));
	SHOW(show_mode(fd));
	SHOW(close(fd));
	SHOW(creat("absent/file", 0600));
	SHOW(fd = host_open("data", O_RDONLY));
	SHOW(host_close(fd));
	SHOW(fd = host_open64("made-under", O_WRONLY | O_CREAT, 0613));
	SHOW(show_mode(fd));
	SHOW(host_close(fd));
	SHOW(fd = host_open_2("data", O_RDONLY));
	SHOW(close(fd));
	SHOW(fd = host_open64_2("data", O_RDONLY));
	SHOW(close(fd));
	SHOW(fd = host_openat_2(AT_FDCWD, "data", O_RDONLY));
	SHOW(close(fd));
	SHOW(fd = host_openat64_2(AT_FDCWD, "data", O_RDONLY));
	SHOW(close(fd));
	SHOW(open_by_handle_at(-1, NULL, 0));
	/* The kernel looks at the flags first, so that a wrapper may not read this invalid path. */
	SHOW(open((const char *)8, O_TMPFILE | O_RDONLY, 0));
	SHOW(open((const char *)8, O_RDONLY));
}

static void copies_of_descriptors(void)
{
	int fd = open("data", O_RDONLY), pipes[2];
	char buffer[16];

	SHOW(dup2(fd, 40));
	SHOW(read(40, buffer, seven));
	SHOW(dup2(99, 41));
	SHOW(dup3(fd, 42, O_CLOEXEC));
	SHOW(fcntl(42, F_GETFD));
	SHOW(dup3(fd, fd, 0));
	SHOW(host_dup2(fd, 43));
	SHOW(fcntl(fd, F_DUPFD, 50));
	SHOW(dup(fd) >= 0);
	SHOW(pipe(pipes));
	SHOW(dup2(pipes[0], 40));	/* descriptor 40 is no data file any more */
	SHOW(write(pipes[1], "pipe", 4));
	SHOW(poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, 5000));
	SHOW(poll(&(struct pollfd){.fd = pipes[1], .events = POLLIN}, 1, 5));
	SHOW(poll(&(struct pollfd){.fd = 99, .events = POLLIN}, 1, 5000));
	SHOW(poll(NULL, (nfds_t)seven, 5));
	SHOW(poll(NULL, 0, 0));
	SHOW(read(40, buffer, seven));
	SHOW(close_range(40, 60, 0));
	SHOW(close_range(60, 40, 0));
	SHOW(close(43));
	closefrom(20);
	SHOW(fcntl(42, F_GETFD));
}

static void reading(int fd)
{
	char buffer[64] = {0}, more[64] = {0};
	struct iovec parts[2] = {{buffer, 5}, {more, 6}};

	SHOW(read(fd, buffer, seven));
	show_text(buffer);
	SHOW(host_read(fd, buffer, seven));
	show_text(buffer);
	SHOW(read(99, buffer, seven));
	SHOW(read(fd, NULL, seven));
	SHOW(read(fd, buffer, 0));
	SHOW(pread(fd, buffer, seven, 3));
	show_text(buffer);
	SHOW(pread(fd, buffer, seven, -1));
	SHOW(pread(fd, buffer, seven, 1000000));
	SHOW(pread64(fd, buffer, seven, INT64_C(0x100000003)));
	SHOW(host_pread64(fd, buffer, seven, 8));
	show_text(buffer);
	SHOW(readv(fd, parts, 2));
	show_text(more);
	SHOW(readv(fd, parts, -1));
	SHOW(preadv(fd, parts, 2, 11));
	show_text(more);
	SHOW(preadv64(fd, parts, 2, INT64_C(0x100000000)));
	SHOW(preadv64(fd, parts, 2, 13));
	show_text(more);
	SHOW(preadv2(fd, parts, 2, 17, 0));
	show_text(more);
	SHOW(preadv64v2(fd, parts, 1, -1, 0));
	show_text(buffer);
	SHOW(preadv2(fd, parts, 2, 17, 0x40000000));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, -5, SEEK_END));
	SHOW(read(fd, buffer, seven));
	SHOW(read(fd, buffer, seven));
}

static void copying(int fd)
{
	int target = open("copy", O_RDWR | O_CREAT | O_TRUNC, 0600), pipes[2];
	off_t offset = 2;
	off64_t offset64 = 3;
	loff_t from = 4;

	if (pipe(pipes) < 0)
		return;
	SHOW(sendfile(target, fd, &offset, 20));
	SHOW(offset);
	SHOW(sendfile64(target, fd, &offset64, 20));
	SHOW(offset64);
	SHOW(sendfile(target, 99, NULL, 20));
	SHOW(copy_file_range(fd, &from, target, NULL, 10, 0));
	SHOW(from);
	SHOW(copy_file_range(fd, &from, target, NULL, 10, 99));
	SHOW(splice(fd, &from, pipes[1], NULL, 10, 0));
	SHOW(splice(fd, &from, target, NULL, 10, 0));
	SHOW(readahead(fd, 0, 100));
	SHOW(readahead(99, 0, 100));
	SHOW(posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED));
	SHOW(posix_fadvise64(fd, 0, 0, 99));
	SHOW(posix_fadvise(99, 0, 0, POSIX_FADV_WILLNEED));
	close(target);
	close(pipes[0]);
	close(pipes[1]);
}

static void symbols(void)
{
	void *program = dlopen(NULL, RTLD_NOW);

	SHOW(dlsym(program, "no_such_symbol") == NULL);
	SHOW(dlsym(program, "puts") == dlsym(RTLD_DEFAULT, "puts"));
	SHOW(dlsym(RTLD_NEXT, "puts") != NULL);
	SHOW(dlclose(program));
}

void host_fatal(void (*act)(void))
{
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		act();
		_exit(33);
	}
	SHOW(waitpid(pid, &status, 0) == pid);
	SHOW(WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status));
}

static void overflow_read(void)
{
	host_overflow_read(open("data", O_RDONLY));
}

static void overflow_stream(void)
{
	host_overflow_stream(fopen("data", "r"));
}

static void create_without_mode(void)
{
	host_open_2("never", O_RDWR | O_CREAT);
}

static void leave(void)
{
	_Exit(34);
}

static void kill_itself(void)
{
	kill(getpid(), SIGINT);
}

static void kill_nobody(void)
{
	SHOW(kill(getpid(), 0));
	SHOW(kill(getpid(), 12345));
	SHOW(kill(1 << 30, SIGINT));
}

static int child(void *argument)
{
	_exit(argument ? 1 : 17);
}

/* Calls by syscall(), whose wrapper looks at the numbers that read and passes all others on. */
static void numbers(int fd)
{
	static char stack[65536];
	char buffer[64] = {0};
	struct iovec parts[2] = {{buffer, 3}, {buffer + 8, 4}};
	int status = 0;
	long pid;

	SHOW(syscall(SYS_lseek, fd, 0, SEEK_SET));
	SHOW(syscall(SYS_read, fd, buffer, seven));
	show_text(buffer);
	SHOW(syscall(SYS_read, 99, buffer, seven));
	SHOW(syscall(SYS_read, fd, NULL, seven));
	SHOW(syscall(SYS_pread64, fd, buffer, seven, 30));
	show_text(buffer);
	SHOW(syscall(SYS_readv, fd, parts, 2));
	SHOW(syscall(SYS_preadv, fd, parts, 2, 40L, 0L));
	show_text(buffer);
	SHOW(syscall(SYS_preadv2, fd, parts, 2, 50L, 0L, 0));
	SHOW(syscall(SYS_preadv2, fd, parts, 2, 50L, 0L, 0x40000000));
	show_text(buffer);
	SHOW(syscall(-1));
	SHOW(syscall(SYS_getpid) == getpid());
	SHOW(syscall(SYS_mmap, NULL, 4096L, 1L, 2L, (long)fd, 1L));	/* fails by the sixth */
	SHOW(syscall(SYS_mmap, NULL, 4096L, 1L, 2L, (long)fd, 0L) > 0);
	fflush(NULL);
	pid = syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
	if (pid == 0)
		_exit(16);
	SHOW(waitpid((pid_t)pid, &status, 0) == pid);
	SHOW(status);
	/* The child has a new stack, on which a wrapper finds nothing that it pushed before. */
	SHOW(waitpid(clone(child, stack + sizeof(stack), SIGCHLD, NULL), &status, 0) > 0);
	SHOW(status);
}

/* vfork() returns twice from one call, on the same stack. */
static void sharing_memory(void)
{
	int status = -1;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(17);
	SHOW(waitpid(pid, &status, 0) == pid);
	SHOW(status);
}

static void controlling(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 5};
	int copy, pipes[2];
	char buffer[16];

	SHOW(copy = fcntl(fd, F_DUPFD, 70));
	SHOW(read(copy, buffer, seven));
	SHOW(host_fcntl(fd, F_DUPFD_CLOEXEC, 80));
	SHOW(host_fcntl_under(fd, F_DUPFD, 90));
	SHOW(fcntl64(fd, F_DUPFD, 100));
	SHOW(fcntl(80, F_GETFD));
	SHOW(fcntl(80, F_SETFD, 0));
	SHOW(host_fcntl_under(80, F_GETFD));
	SHOW(fcntl(fd, F_GETFL));
	SHOW(fcntl(fd, F_GETLK, &lock));
	SHOW(lock.l_type);
	lock.l_type = F_RDLCK;
	SHOW(fcntl64(fd, F_SETLK, &lock));
	SHOW(host_fcntl(fd, F_SETLKW, (void *)8));
	SHOW(fcntl(fd, F_DUPFD, -1));
	SHOW(fcntl(99, F_DUPFD, 0));
	SHOW(fcntl(fd, 12345, 0));
	if (pipe(pipes) == 0)
		SHOW(fcntl(pipes[0], F_SETPIPE_SZ, 4096));
	SHOW(dup(99));
	SHOW(close_range(70, 120, 0));
	close(pipes[0]);
	close(pipes[1]);
}

static void handles(void)
{
	struct {
		struct file_handle head;
		char room[128];
	} handle = {.head.handle_bytes = sizeof(handle.room)};
	char buffer[16] = {0};
	int mount, fd;

	SHOW(name_to_handle_at(AT_FDCWD, "data", &handle.head, &mount, 0));
	SHOW(fd = open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY));
	SHOW(read(fd, buffer, seven));
	show_text(buffer);
	SHOW(close(fd));
	SHOW(open_by_handle_at(AT_FDCWD, &handle.head, O_WRONLY | O_DIRECTORY));
}

#ifdef HOST_MODULE
int host_main(void);
int host_main(void)
#else
int main(void)
#endif
{
	int fd;

	umask(0);
	opening();
	copies_of_descriptors();
	fd = open("data", O_RDONLY);
	reading(fd);
	copying(fd);
	numbers(fd);
	sharing_memory();
	controlling(fd);
	close(fd);
	handles();
	host_checked("data");
	host_streams();
	host_files();
	host_maps();
	host_waits();
	symbols();
	host_fatal(overflow_read);
	host_fatal(overflow_stream);
	host_fatal(create_without_mode);
	host_fatal(leave);
	host_fatal(kill_itself);
	kill_nobody();
	return 0;
}

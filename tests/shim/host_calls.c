/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_calls.c - every wrapped function, in success and in failure, as a program would call it.
 *
 * Prints each result and errno; calls.py compares the text with and without the preload. Built
 * plain, with 64-bit offsets and fortified, because each makes the compiler call other names.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_calls.h"

static volatile size_t seven = 7;	/* unknown to the compiler: fortified calls stay calls */

/* 77 beforehand: a wrapper must leave errno alone on success too. */
#define SHOW(expression) show(#expression, (errno = 77, (long long)(expression)))

static void show(const char *what, long long result)
{
	int error = errno;

	printf("%s = %lld, errno %d\n", what, result, error);
	fflush(stdout);
}

static void show_text(const char *text)
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
	/* A wrapper that forwards the mode for O_CREAT alone makes this file with a random one. */
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
	SHOW(dup2(pipes[0], 40));	/* 40 is no data file any more */
	SHOW(write(pipes[1], "pipe", 4));
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

static int scan(FILE *file, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = vfscanf(file, format, values);
	va_end(values);
	return r;
}

static int old_scan(FILE *file, const char *format, ...)
{
	va_list values;
	int r;

	va_start(values, format);
	r = host_vfscanf(file, format, values);
	va_end(values);
	return r;
}

static void positions(FILE *file)
{
	fpos_t position;
	fpos64_t position64;
	char buffer[64];

	SHOW(fgetpos(file, &position));
	SHOW(fgetpos64(file, &position64));
	SHOW(fseek(file, 10, SEEK_SET));
	SHOW(fseek(file, -10, SEEK_SET));
	SHOW(fgetc(file));
	SHOW(fseeko(file, 4, SEEK_CUR));
	SHOW(fseeko64(file, -8, SEEK_END));
	SHOW(fgets(buffer, (int)seven, file) == buffer);
	show_text(buffer);
	SHOW(fsetpos(file, &position));
	SHOW(ftell(file));
	SHOW(fsetpos64(file, &position64));
	rewind(file);
	SHOW(ftello(file));
}

static void streams(void)
{
	FILE *file = fopen("data", "r"), *other;
	char buffer[64] = {0}, word[32] = {0}, *line = NULL;
	size_t room = 0;
	int number = 0;

	SHOW(file != NULL);
	SHOW(fread(buffer, 1, seven, file));
	show_text(buffer);
	SHOW(fread(buffer, seven, 3, file));
	SHOW(fread_unlocked(buffer, 1, seven, file));
	show_text(buffer);
	SHOW(fgets(buffer, (int)seven + 3, file) == buffer);
	show_text(buffer);
	SHOW(fgets_unlocked(buffer, (int)seven, file) == buffer);
	show_text(buffer);
	SHOW(getline(&line, &room, file));
	show_text(line);
	SHOW(host_getline(&line, &room, file));
	show_text(line);
	SHOW(getdelim(&line, &room, '4', file));
	show_text(line);
	SHOW(host_getdelim(&line, &room, '\n', file));
	show_text(line);
	SHOW(fscanf(file, "%31s %d", word, &number));
	show_text(word);
	SHOW(number);
	SHOW(host_fscanf(file, "%31s %d", word, &number));
	SHOW(number);
	SHOW(scan(file, "%31s", word));
	show_text(word);
	SHOW(old_scan(file, "%d %d", &number, &number));
	positions(file);
	SHOW(fgetc(file));
	SHOW(getc_unlocked(file));
	SHOW(ungetc('x', file));
	SHOW(fgetc(file));
	SHOW(host_underflow(file));
	SHOW(host_uflow(file));
	SHOW(fseek(file, 0, SEEK_END));
	SHOW(fgets(buffer, (int)seven, file) == NULL);
	SHOW(feof(file));
	SHOW(getline(&line, &room, file));
	SHOW(fread(buffer, 1, 0, NULL)); /* glibc looks at the size first */
	SHOW(fread(buffer, 1, seven, file));
	SHOW((other = freopen("data", "r", file)) == file);
	SHOW(fgetc(file));
	SHOW((other = freopen64("data", "r", file)) == file);
	SHOW(fgetc(file));
	SHOW(fclose(file));
	SHOW((file = fopen64("data", "rb")) != NULL);
	SHOW(fileno(file) >= 0);
	SHOW(fclose(file));
	SHOW(fopen("absent", "r") == NULL);
	SHOW(fopen("data", "?") == NULL);
	SHOW((file = fdopen(open("data", O_RDONLY), "r")) != NULL);
	SHOW(fread(buffer, 1, seven, file));
	SHOW(fclose(file));
	SHOW(fdopen(99, "r") == NULL);
	SHOW((file = fopen("made", "w")) != NULL);
	SHOW(fgetc(file));
	SHOW(fread(buffer, 1, seven, file));
	SHOW(fputs("text", file));
	SHOW(fclose(file));
	file = fopen("/dev/full", "w");
	fputs("text", file);
	SHOW(fclose(file));
	free(line);
}

static void content(void)
{
	FILE *file = fopen("data", "r");
	unsigned long sum = 0;
	int c;

	while ((c = getc_unlocked(file)) != EOF)
		sum = sum * 31 + (unsigned long)c;
	rewind(file);
	while ((c = fgetc(file)) != EOF)
		sum = sum * 31 + (unsigned long)c;
	fclose(file);
	printf("sum %lx\n", sum);
}

/* What the C library ends a program for, it must still end it for. */
static void fatal(void (*act)(void))
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

int main(void)
{
	int fd;

	umask(0);
	opening();
	copies_of_descriptors();
	fd = open("data", O_RDONLY);
	reading(fd);
	copying(fd);
	close(fd);
	host_checked("data");
	streams();
	content();
	fatal(overflow_read);
	fatal(overflow_stream);
	fatal(create_without_mode);
	return 0;
}

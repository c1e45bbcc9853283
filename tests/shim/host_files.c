/* SPDX-License-Identifier: Apache-2.0 */
/* host_files.c - calls that ask about files and folders, map files, or read asynchronously. */
#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_calls.h"

#define UNREADABLE ((const char *)8)

static void locking(int fd)
{
	SHOW(flock(fd, LOCK_SH));
	SHOW(flock(fd, LOCK_UN));
	SHOW(flock(99, LOCK_SH));
	SHOW(lockf(fd, F_TEST, 0));
	SHOW(lockf(99, F_LOCK, 0));
	SHOW(lockf64(99, F_TLOCK, 0));
}

static void asking(int fd)
{
	struct statx extended;
	struct stat64 s64;
	struct stat s;

	SHOW(stat("data", &s));
	SHOW(s.st_size);
	SHOW(stat("absent", &s));
	SHOW(stat("data/below", &s));
	SHOW(stat(UNREADABLE, &s));
	SHOW(stat("", &s));
	SHOW(stat64("data", &s64));
	SHOW(s64.st_size);
	SHOW(lstat("data", &s));
	SHOW(lstat("absent", &s));
	SHOW(lstat64("data", &s64));
	SHOW(fstat(fd, &s));
	SHOW(s.st_size);
	SHOW(fstat(99, &s));
	SHOW(fstat64(fd, &s64));
	SHOW(fstatat(AT_FDCWD, "data", &s, AT_SYMLINK_NOFOLLOW));
	SHOW(fstatat(fd, "", &s, AT_EMPTY_PATH));
	SHOW(fstatat(99, "data", &s, 0));
	SHOW(fstatat(AT_FDCWD, UNREADABLE, &s, 0x40000000));
	SHOW(fstatat64(AT_FDCWD, "data", &s64, 0));
	SHOW(statx(AT_FDCWD, "data", 0, STATX_SIZE, &extended));
	SHOW(extended.stx_size);
	SHOW(statx(AT_FDCWD, UNREADABLE, 0x40000000, STATX_SIZE, &extended));
	SHOW(statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &extended));
	SHOW(host_xstat(1, "data", &s));
	SHOW(s.st_size);
	SHOW(host_xstat(1, "absent", &s));
	SHOW(host_xstat(77, "data", &s));
	SHOW(host_xstat64(1, "data", &s64));
	SHOW(host_lxstat(1, "data", &s));
	SHOW(host_lxstat64(1, "data", &s64));
	SHOW(host_fxstat(1, fd, &s));
	SHOW(host_fxstat(1, 99, &s));
	SHOW(host_fxstat64(1, fd, &s64));
	SHOW(host_fxstatat(1, AT_FDCWD, "data", &s, 0));
	SHOW(host_fxstatat64(1, AT_FDCWD, "absent", &s64, 0));
	SHOW(access("data", R_OK));
	SHOW(access("absent", R_OK));
	SHOW(access("data", 0x1234));
	SHOW(access(UNREADABLE, 0x1234));
	SHOW(faccessat(AT_FDCWD, "data", F_OK, AT_EACCESS));
	SHOW(faccessat(AT_FDCWD, UNREADABLE, F_OK, 0x1234));
}

static int is_data(const struct dirent *entry)
{
	return strcmp(entry->d_name, "data") == 0;
}

static int is_data64(const struct dirent64 *entry)
{
	return strcmp(entry->d_name, "data") == 0;
}

static void folders(void)
{
	DIR *folder = opendir(".");
	struct dirent64 **names64, entry64, *found64;
	struct dirent **names, entry, *found;
	char entries[4096];
	int count = 0, fd;

	SHOW(folder != NULL);
	while (readdir(folder))
		count++;
	SHOW(count > 3);
	SHOW(readdir(folder) == NULL);
	rewinddir(folder);
	for (count = 0; readdir64(folder); count++)
		;
	SHOW(count > 3);
	rewinddir(folder);
	for (count = 0; readdir_r(folder, &entry, &found) == 0 && found; count++)
		;
	SHOW(count > 3);
	rewinddir(folder);
	SHOW(readdir64_r(folder, &entry64, &found64));
	SHOW(closedir(folder));
	SHOW(closedir(NULL));
	SHOW(opendir("absent") == NULL);
	SHOW(opendir("data") == NULL);
	SHOW((folder = fdopendir(open(".", O_RDONLY | O_DIRECTORY))) != NULL);
	SHOW(readdir(folder) != NULL);
	SHOW(closedir(folder));
	SHOW(fdopendir(99) == NULL);
	SHOW(scandir(".", &names, is_data, alphasort));
	show_text(names[0]->d_name);
	free(names[0]);
	free(names);
	SHOW(scandir("absent", &names, NULL, NULL));
	SHOW(scandir64(".", &names64, is_data64, alphasort64));
	free(names64[0]);
	free(names64);
	SHOW(scandirat(AT_FDCWD, ".", &names, is_data, alphasort));
	show_text(names[0]->d_name);
	free(names[0]);
	free(names);
	SHOW(scandirat64(99, ".", &names64, is_data64, alphasort64));
	fd = open(".", O_RDONLY | O_DIRECTORY);
	SHOW(getdents64(fd, entries, sizeof(entries)) > 0);
	SHOW(getdents64(fd, entries, 1));
	SHOW(close(fd));
	SHOW(getdents64(99, entries, sizeof(entries)));
}

void host_files(void)
{
	int fd = open("data", O_RDONLY);

	asking(fd);
	locking(fd);
	folders();
	close(fd);
}

static void requests(int fd)
{
	static char buffer[4][64];
	struct aiocb one = {.aio_fildes = fd, .aio_buf = buffer[0], .aio_nbytes = seven,
			    .aio_sigevent.sigev_notify = SIGEV_NONE};
	struct aiocb64 one64 = {.aio_fildes = fd, .aio_buf = buffer[1], .aio_nbytes = seven,
				.aio_offset = 20, .aio_sigevent.sigev_notify = SIGEV_NONE};
	struct aiocb two = {.aio_fildes = fd, .aio_buf = buffer[2], .aio_nbytes = seven,
			    .aio_offset = 40, .aio_lio_opcode = LIO_READ,
			    .aio_sigevent.sigev_notify = SIGEV_NONE};
	struct aiocb64 two64 = {.aio_fildes = fd, .aio_buf = buffer[3], .aio_nbytes = seven,
				.aio_offset = 60, .aio_lio_opcode = LIO_READ,
				.aio_sigevent.sigev_notify = SIGEV_NONE};
	struct aiocb bad = {.aio_fildes = 99, .aio_buf = buffer[0], .aio_nbytes = seven,
			    .aio_sigevent.sigev_notify = SIGEV_NONE};
	const struct aiocb *list[] = {NULL, &one};
	const struct aiocb64 *list64[] = {&one64, NULL};
	struct aiocb *both[] = {&two, NULL};
	struct aiocb64 *both64[] = {NULL, &two64};

	SHOW(aio_read(&one));
	SHOW(aio_suspend(list, 2, NULL));
	SHOW(aio_error(&one));
	SHOW(aio_return(&one));
	show_text(buffer[0]);
	SHOW(aio_read64(&one64));
	SHOW(aio_suspend64(list64, 2, NULL));
	SHOW(aio_return64(&one64));
	show_text(buffer[1]);
	SHOW(lio_listio(LIO_WAIT, both, 2, NULL));
	SHOW(aio_return(&two));
	show_text(buffer[2]);
	SHOW(lio_listio64(LIO_WAIT, both64, 2, NULL));
	SHOW(aio_return64(&two64));
	show_text(buffer[3]);
	SHOW(lio_listio(77, both, 1, NULL));
	SHOW(lio_listio64(77, both64, 2, NULL));
	SHOW(aio_suspend(list, -1, NULL));
	SHOW(aio_read(&bad));
	SHOW(aio_suspend((const struct aiocb *[]){&bad}, 1, NULL));
	SHOW(aio_return(&bad));
}

void host_maps(void)
{
	int fd = open("data", O_RDONLY);
	char *map, *moved, *place;

	SHOW((map = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0)) != MAP_FAILED);
	show_text(map);
	SHOW(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 99, 0) == MAP_FAILED);
	SHOW(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED);
	SHOW(mmap64(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 5) == MAP_FAILED);
	SHOW((place = mmap64(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) !=
	     MAP_FAILED);
	SHOW(madvise(map, 8192, MADV_WILLNEED));
	SHOW(madvise(map + 1, 8192, MADV_WILLNEED));
	SHOW(madvise(map, 8192, 12345));
	SHOW(posix_madvise(map, 8192, POSIX_MADV_SEQUENTIAL));
	SHOW(posix_madvise(map, 8192, 12345));
	SHOW((moved = mremap(map, 8192, 12288, MREMAP_MAYMOVE)) != MAP_FAILED);
	show_text(moved + 4096);
	SHOW(mremap(moved, 12288, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	show_text(place);
	SHOW(mremap(place + 1, 4096, 8192, 0) == MAP_FAILED);
	SHOW(munmap(place, 4096));
	SHOW(munmap(place + 4096, 4096));
	SHOW(munmap(place + 1, 4096));
	SHOW((map = mmap64(place, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 4096)) == place);
	show_text(map);
	SHOW(munmap(place, 65536));
	requests(fd);
	close(fd);
}

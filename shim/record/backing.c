/* SPDX-License-Identifier: Apache-2.0 */
#include "record/backing.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "base/sys.h"
#include "dlprof/folder.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LOCK_BYTES  4096
#define NAME_MOST   32
#define ZEROES_MOST 32

#define FIRST_BYTES offsetof(struct dlprof_segment, slots[0].tallies[DLPROF_TALLY_KERNELS_AT])

/* Returns < 0 if the process may not write so large a file: SIGXFSZ would kill the host. */
static int check_file_limit(void)
{
	struct rlimit limit;

	if (sys_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	    limit.rlim_cur < sizeof(struct dlprof_segment))
		return -EFBIG;
	return 0;
}

/* Gets disk blocks by writing zeroes, which works on every file system, faster than page faults. */
static int write_zeroes(int fd, size_t offset, size_t size)
{
	static const char zeroes[4096];
	struct iovec parts[ZEROES_MOST];
	long r;

	for (size_t done = 0; done < size; done += (size_t)r) {
		size_t left = size - done, part;
		int count = 0;

		for (; left && count < ZEROES_MOST; left -= part) {
			part = left < sizeof(zeroes) ? left : sizeof(zeroes);
			parts[count++] = (struct iovec){(void *)zeroes, part};
		}
		r = sys_call6(SYS_pwritev, fd, (long)parts, count, (long)(offset + done), 0, 0);
		if (r == -EINTR)
			r = 0;
		else if (r <= 0)
			return r < 0 ? (int)r : -ENOSPC;
	}
	return 0;
}

int backing_make(const char *path, struct dlprof_segment **ret_shared)
{
	void *address;
	int fd, r;

	r = check_file_limit();
	if (r < 0)
		return r;
	fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, DLPROF_FILE_MODE);
	if (fd < 0)
		return fd;
	r = (int)sys_call2(SYS_ftruncate, fd, sizeof(struct dlprof_segment));
	if (r < 0)
		goto undo;
	/* Reserve what a worker needs. If the disk is full, backing_reserve() finds that out. */
	write_zeroes(fd, 0, FIRST_BYTES);
	address = sys_mmap(sizeof(struct dlprof_segment), PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	if (sys_mmap_failed(address)) {
		r = (int)(long)address;
		goto undo;
	}
	/* Without MADV_RANDOM, the first page fault reads zeroes ahead for 0.5 ms. */
	sys_call3(SYS_madvise, address, sizeof(struct dlprof_segment), MADV_RANDOM);
	sys_close(fd);
	*ret_shared = address;
	return 0;

undo:
	sys_close(fd);
	sys_unlink(path);
	return r;
}

static int reserve_by_path(const char *path, size_t offset, size_t size)
{
	int fd = sys_open(path, O_RDWR | O_NOFOLLOW, 0), r;

	if (fd < 0)
		return fd;
	r = (int)sys_call4(SYS_fallocate, fd, 0, offset, size);
	if (r < 0 && r != -ENOSPC && r != -EDQUOT)
		r = write_zeroes(fd, offset, size);
	sys_close(fd);
	return r;
}

int backing_reserve(const char *path, struct dlprof_segment *shared, size_t offset, size_t size)
{
	/* The machine's pages may be larger than those for which the segment is laid out. */
	const uintptr_t page = getauxval(AT_PAGESZ);
	const uintptr_t begin = ((uintptr_t)shared + offset) & ~(page - 1);
	int r = (int)sys_call3(SYS_madvise, begin, (uintptr_t)shared + offset + size - begin,
			       MADV_POPULATE_WRITE);

	/* EFAULT: a touch would raise SIGBUS. Other errors: kernel or sandbox lacks the call. */
	if (r == -EFAULT)
		return -ENOSPC;
	return r < 0 ? reserve_by_path(path, offset, size) : 0;
}

/* Returns true if the lock outlives its descriptor, as seen by opening the file again. */
static bool is_locked(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = sys_open(path, O_RDWR | O_NOFOLLOW, 0);
	bool locked;

	if (fd < 0)
		return false;
	locked = sys_call3(SYS_fcntl, fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	sys_close(fd);
	return locked;
}

/* The lock is held by a mapping, because the host could find and close a descriptor. */
bool backing_lock(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = sys_open(path, O_RDWR | O_NOFOLLOW, 0);
	void *page;
	long r;

	if (fd < 0)
		return false;
	page = sys_mmap(LOCK_BYTES, PROT_NONE, MAP_SHARED, fd);
	if (sys_mmap_failed(page)) {
		sys_close(fd);
		return false;
	}
	r = sys_call3(SYS_madvise, page, LOCK_BYTES, MADV_DONTFORK);
	if (r == 0)
		r = sys_call3(SYS_fcntl, fd, F_OFD_SETLK, &lock);
	sys_close(fd);
	if (r == 0 && is_locked(path))
		return true;
	sys_munmap(page, LOCK_BYTES);
	return false;
}

/* Renames a file, and replaces none: by renameat2(), by a link, or after checking the target. */
static int rename_once(const char *from, const char *to)
{
	int r = (int)sys_call6(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to,
			       RENAME_NOREPLACE, 0), fd;

	if (r != -ENOSYS && r != -EINVAL && r != -EPERM)
		return r;
	r = (int)sys_call6(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
	if (r == 0)
		sys_unlink(from);
	if (r == 0 || r == -EEXIST)
		return r;
	fd = sys_open(to, O_PATH | O_NOFOLLOW, 0);
	if (fd >= 0) {
		sys_close(fd);
		return -EEXIST;
	}
	return (int)sys_call4(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int backing_give_name(const char *unfinished, struct text *path)
{
	size_t stem = path->length;
	int r;

	for (int suffix = 0;; suffix++) {
		path->length = stem;
		if (suffix)
			text_format(path, "-%d", suffix);
		text_add(path, DLPROF_SEGMENT_SUFFIX);
		r = rename_once(unfinished, path->buffer);
		if (r != -EEXIST || suffix == NAME_MOST)
			return r;
	}
}

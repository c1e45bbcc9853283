/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/sys.h"

#define BIT(signal) (UINT64_C(1) << ((signal)-1))

/* Identifies a file. Inode numbers are reused: a file born after `changed` is not the same file. */
struct identity {
	uint64_t inode;
	uint64_t device;
	uint32_t type; /* S_IFMT bits; 0: no file */
	struct timespec changed;
};

static char target[256]; /* DLPROF_LOG; "": none */

/* stderr at the program's start */
static struct identity first NEAR = {.type = 0};

/* These flags let stat calls ask no file server: what the kernel knows is enough. */
#define LOOK_FLAGS (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC)

/* Identifies a file, by fstatat(), which most sandboxes allow because ld.so needs it. */
static int identify(int fd, const char *path, struct identity *ret)
{
	struct stat status;
	long r = sys_call4(SYS_newfstatat, fd, path, &status, LOOK_FLAGS);

	if ((r == -EPERM || r == -ENOSYS) && !*path)
		r = sys_call2(SYS_fstat, fd, &status);
	*ret = (struct identity){.type = 0};
	if (r < 0)
		return (int)r;
	ret->inode = status.st_ino;
	ret->device = status.st_dev;
	ret->type = status.st_mode & S_IFMT;
	ret->changed = status.st_ctim;
	return 0;
}

void log_begin(void)
{
	identify(2, "", &first);
}

/* Returns true if the file is younger than `first`; false also if birth times are not stored. */
static bool is_born_later(int fd)
{
	struct statx status;

	memset(&status, 0, sizeof(status));
	if (sys_call6(SYS_statx, fd, (long)"", LOOK_FLAGS, STATX_BTIME, (long)&status, 0) < 0 ||
	    !(status.stx_mask & STATX_BTIME))
		return false;
	if (status.stx_btime.tv_sec != first.changed.tv_sec)
		return status.stx_btime.tv_sec > first.changed.tv_sec;
	return status.stx_btime.tv_nsec > first.changed.tv_nsec;
}

static bool is_first(int fd)
{
	struct identity now;

	return identify(fd, "", &now) == 0 && now.inode == first.inode &&
	       now.device == first.device && now.type == first.type &&
	       !(now.type == S_IFREG && is_born_later(fd));
}

static bool is_terminal(int fd)
{
	char settings[256];

	return sys_call3(SYS_ioctl, fd, TCGETS, settings) == 0;
}

static bool has_room(int fd)
{
	const struct timespec at_once = {0, 0};
	struct pollfd end = {.fd = fd, .events = POLLOUT};

	return sys_call4(SYS_ppoll, &end, 1, &at_once, NULL) == 1 && (end.revents & POLLOUT);
}

/* Consumes a SIGPIPE, SIGXFSZ or SIGTTOU that the write raises, unless one was already pending. */
static void write_unsignalled(int fd, const char *bytes, size_t size)
{
	const uint64_t block = BIT(SIGPIPE) | BIT(SIGXFSZ) | BIT(SIGTTOU);
	const struct timespec at_once = {0, 0};
	uint64_t before, pending = 0, ours;
	long r;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &block, &before, sizeof(block));
	sys_call2(SYS_rt_sigpending, &pending, sizeof(pending));
	r = sys_write(fd, bytes, size);
	ours = (r == -EPIPE ? BIT(SIGPIPE) : r == -EFBIG ? BIT(SIGXFSZ) : 0) & ~pending;
	if (ours)
		sys_call4(SYS_rt_sigtimedwait, &ours, NULL, &at_once, sizeof(ours));
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/*
 * Writes without waiting: opens the pipe or terminal again with O_NONBLOCK, since descriptor 2 has
 * other users. If that fails, poll() checks for room, which another process may take.
 */
static void write_stream(const char *bytes, size_t size)
{
	int fd = sys_open("/proc/thread-self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);

	if (fd >= 0) {
		if (is_first(fd))
			write_unsignalled(fd, bytes, size);
		sys_close(fd);
	} else if (fd != -ENXIO && has_room(2)) {
		write_unsignalled(2, bytes, size);
	}
}

/* Risk: another thread may replace descriptor 2 after it was checked. */
void log_stderr(const char *bytes, size_t size)
{
	if (!is_first(2))
		return;
	switch (first.type) {
	case S_IFREG:
		write_unsignalled(2, bytes, size);
		break;
	case S_IFSOCK:
		sys_call6(SYS_sendto, 2, (long)bytes, (long)size, MSG_DONTWAIT | MSG_NOSIGNAL, 0,
			  0);
		break;
	case S_IFCHR:
		if (!is_terminal(2))
			break;
		/* fall through */
	case S_IFIFO:
		write_stream(bytes, size);
		break;
	}
}

static bool is_stderr(const char *path)
{
	return strcmp(path, "stderr") == 0 || strcmp(path, "/dev/stderr") == 0 ||
	       strcmp(path, "/dev/fd/2") == 0 || strcmp(path, "/proc/self/fd/2") == 0;
}

/* Returns words for a type of file that must not get the log, or NULL. */
static const char *odd_kind(uint32_t type)
{
	switch (type) {
	case S_IFREG:
	case S_IFCHR:
		return NULL;
	case S_IFDIR:
		return "a folder";
	case S_IFIFO:
		return "a FIFO";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFSOCK:
		return "a socket";
	default:
		return "a device";
	}
}

/*
 * Checks the file's type before open(), since opening a FIFO has effects, and again after it.
 * *ret_odd: words for a type that must not get the log, or NULL.
 */
static int open_log(const char **ret_odd)
{
	struct identity file;
	int fd;

	*ret_odd = NULL;
	if (identify(AT_FDCWD, target, &file) == 0) {
		*ret_odd = odd_kind(file.type);
		if (*ret_odd)
			return -EINVAL;
	}
	fd = sys_open(target,
		      O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0600);
	if (fd < 0)
		return fd;
	if (identify(fd, "", &file) == 0 &&
	    (file.type == S_IFREG || (file.type == S_IFCHR && is_terminal(fd))))
		return fd;
	sys_close(fd);
	*ret_odd = "a device";
	return -EINVAL;
}

bool log_set(const char *path)
{
	if (!path[0] || strlen(path) >= sizeof(target))
		return false;
	strcpy(target, path);
	return true;
}

bool log_fails(struct text *why)
{
	const char *odd;
	int fd;

	if (!target[0] || is_stderr(target))
		return false;
	fd = open_log(&odd);
	if (fd >= 0) {
		sys_close(fd);
		return false;
	}
	text_format(why, "DLPROF_LOG: cannot write to '%s': %s%s", target,
		    odd ? odd : text_error(fd),
		    odd ? ", and neither a regular file, a terminal nor stderr" : "");
	return true;
}

void log_line(const char *what, const char *detail)
{
	TEXT(line, 512);
	const char *odd;
	int fd;

	if (!target[0])
		return;
	text_format(&line, "dlprof[%d]: %s%s%s", sys_getpid(), what, detail ? ": " : "",
		    detail ? detail : "");
	if (line.cut)
		line.length--;
	text_add(&line, "\n");
	if (is_stderr(target)) {
		log_stderr(line.buffer, line.length);
		return;
	}
	fd = open_log(&odd);
	if (fd < 0)
		return;
	write_unsignalled(fd, line.buffer, line.length);
	sys_close(fd);
}

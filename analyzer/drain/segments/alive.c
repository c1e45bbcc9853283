/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/segments/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "drain/base/process.h"

uint64_t alive_start_ticks(int32_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) && !stat.is_over ? stat.start_ticks : 0;
}

static bool is_shown(const struct alive *alive)
{
	return alive->proc_pid > 0 && alive->start_ticks &&
	       alive_start_ticks(alive->proc_pid) == alive->start_ticks;
}

static uint64_t linked_number(const char *link)
{
	char target[64];
	ssize_t length = readlink(link, target, sizeof(target) - 1);

	target[length > 0 ? length : 0] = '\0';
	return strtoull(target + strcspn(target, "0123456789"), NULL, 10);
}

/* The first PID namespace has the same number on all machines, so host names are compared, too. */
static bool is_here(const struct dlprof_header *header)
{
	uint64_t space = linked_number("/proc/self/ns/pid");
	struct utsname name;

	return space && header->pid_space == space && uname(&name) == 0 &&
	       strncmp(header->host, name.nodename, sizeof(header->host) - 1) == 0;
}

void alive_begin(struct alive *alive, const struct dlprof_header *header, int fd)
{
	*alive = (struct alive){
		.header = header,
		.fd = fd,
		.pidfd = -1,
		.pid = header->pid,
		.proc_pid = header->proc_pid,
		.start_ticks = header->start_ticks,
		.is_near = is_here(header),
	};
	alive->is_found = alive->is_near && is_shown(alive);
	if (!alive->is_found)
		return;
	alive->pidfd = (int)syscall(SYS_pidfd_open, alive->pid, 0);
	/* If the process ended before pidfd_open(), the pidfd may belong to another process. */
	if (!is_shown(alive))
		alive_end(alive);
}

void alive_end(struct alive *alive)
{
	if (alive->pidfd >= 0)
		close(alive->pidfd);
	alive->pidfd = -1;
	alive->is_found = false;
}

/* Returns 1 if the process has its lock, 0 if not, or -1 if that cannot be known here. */
static int has_lock(const struct alive *alive)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

	if (!(alive->header->flags & DLPROF_SEGMENT_LOCKED) ||
	    fcntl(alive->fd, F_OFD_GETLK, &lock) < 0)
		return -1;
	return lock.l_type != F_UNLCK;
}

static bool is_nobody(const struct alive *alive)
{
	return alive->is_near && kill(alive->pid, 0) < 0 && errno == ESRCH;
}

/* Returns true if the pid belongs to no process, to another process, or to a zombie. */
static bool is_surely_gone(const struct alive *alive)
{
	uint64_t ticks;
	char path[40];

	if (!alive->is_near)
		return false;
	if (is_nobody(alive))
		return true;
	/* Pids in /proc mean the same as ours only if /proc shows our PID namespace. */
	if (alive->proc_pid != alive->pid || linked_number("/proc/self") != (uint64_t)getpid())
		return false;
	ticks = alive_start_ticks(alive->proc_pid);
	snprintf(path, sizeof(path), "/proc/%d", alive->proc_pid);
	return ticks ? ticks != alive->start_ticks : access(path, F_OK) == 0;
}

bool alive_now(const struct alive *alive, bool is_root_gone)
{
	struct pollfd waiting = {.fd = alive->pidfd, .events = POLLIN};
	int locked;

	if (alive->pidfd >= 0)
		return poll(&waiting, 1, 0) == 0;
	if (alive->is_found) /* an old kernel has no pidfd: the pid must do */
		return is_shown(alive);
	/* Ask this first: readers of an ended process's memory keep its lock alive. */
	if (is_nobody(alive))
		return false;
	locked = has_lock(alive);
	if (locked >= 0)
		return locked;
	if (is_surely_gone(alive) || alive->header->ended_ns)
		return false;
	return (alive->header->flags & DLPROF_SEGMENT_ROOT) || !is_root_gone;
}

bool alive_is_other(const struct alive *alive)
{
	struct process_stat stat;

	/* execve() and a process's end release the lock, but an ending process has no memory. */
	return alive->is_found && has_lock(alive) == 0 &&
	       process_stat_read(alive->proc_pid, &stat) &&
	       stat.start_ticks == alive->start_ticks && stat.has_memory;
}

bool alive_has_thread(const struct alive *alive, uint32_t tid)
{
	return !alive->is_found || syscall(SYS_tgkill, alive->pid, tid, 0) == 0 || errno != ESRCH;
}

int32_t alive_number(const struct alive *alive)
{
	return alive->is_found && is_shown(alive) ? alive->proc_pid : 0;
}

/* Copied from linux/pidfd.h of Linux 6.15. Older kernels do not return the exit code. */
struct pidfd_info {
	uint64_t mask, cgroup_id;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT (UINT64_C(1) << 3)

static bool is_of_user(int32_t pid)
{
	struct stat status;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &status) == 0 && status.st_uid == geteuid() && status.st_gid == getegid();
}

int alive_exit_status(const struct alive *alive)
{
	struct pidfd_info info = {.mask = PIDFD_INFO_EXIT};
	struct process_stat stat;

	/* A zombie has a status. Another user's always reads as 0, which is not believed. */
	if (alive->is_found && process_stat_read(alive->proc_pid, &stat) && stat.is_over &&
	    stat.start_ticks == alive->start_ticks &&
	    (stat.exit_status || is_of_user(alive->proc_pid)))
		return stat.exit_status;
	/* After the parent has waited for the process, the pidfd still has the exit code. */
	if (alive->pidfd >= 0 && ioctl(alive->pidfd, PIDFD_GET_INFO, &info) == 0 &&
	    (info.mask & PIDFD_INFO_EXIT))
		return info.exit_code;
	return -1;
}

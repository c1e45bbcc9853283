/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/environment.h"
#include "base/guard.h"
#include "base/process.h"
#include "base/sys.h"
#include "dlprof/folder.h"
#include "dlprof/place.h"
#include "dlprof/trust.h"

/* Finds this library's path. Follows links: a link's folder may hold another version's drain. */
static bool find_library(char *ret, size_t size)
{
	const char *own = environment_own_path();
	int fd = own ? sys_open(own, O_PATH, 0) : -1, length;
	TEXT(link, 48);

	if (!own || strlen(own) >= size)
		return false;
	strcpy(ret, own);
	if (fd < 0)
		return true;
	text_format(&link, "/proc/thread-self/fd/%d", fd);
	length = sys_readlink(link.buffer, ret, size - 1);
	if (length > 0)
		ret[length] = '\0';
	sys_close(fd);
	return true;
}

/* Returns 0 and `path`, or `why` and -ENOENT, -EACCES (not executable) or -EPERM (not trusted). */
static int place_find_drain(struct text *path, struct text *why)
{
	char library[TRUST_PATH_BYTES];
	struct trust_search search = {.from = library, .look = sys_lstat, .read = text_read_file};
	int r = -ENOENT;

	if (find_library(library, sizeof(library)))
		r = trust_find(&search, (uint32_t)sys_call0(SYS_geteuid), "dlprof-drain",
			       PLACE_DRAIN_FOLDER);
	if (r == 0 && sys_call3(SYS_faccessat, AT_FDCWD, search.path, 1 /* X_OK */) < 0)
		r = -EACCES;
	if (r == 0)
		text_add(path, search.path);
	else if (r == -EPERM || r == -EACCES)
		text_format(why, "'%s' %s", search.path,
			    r == -EPERM ? trust_text(search.trust) : "may not be executed");
	else
		text_add(why, "it was not found");
	return r;
}

#define STACK_BYTES 65536

struct spawn {
	char *arguments[4];
	char **environment;
	char *stack;		/* stack of the drain, until its exec() */
	int result;		/* exec()'s error, written through shared memory */
	int drain;
};

static void exec_drain(void *argument)
{
	struct spawn *spawn = argument;

	spawn->result = (int)sys_call3(SYS_execve, spawn->arguments[0], spawn->arguments,
				       spawn->environment);
	sys_call1(SYS_exit, 127);
}

/* Starts the drain's process. Returns its pid or -errno. */
static int start_drain(void *argument)
{
	struct spawn *spawn = argument;
	int pid = (int)sys_spawn(CLONE_VM | CLONE_VFORK, spawn->stack + STACK_BYTES, exec_drain,
				 spawn);

	if (pid < 0 || !spawn->result)
		return pid;
	sys_call4(SYS_wait4, pid, NULL, __WALL, NULL);
	return spawn->result;
}

/* Starts the drain in a child and ends that child, so that the drain becomes an orphan. */
static void start_orphan(void *argument)
{
	struct spawn *spawn = argument;

	spawn->drain = start_drain(spawn);
	sys_call1(SYS_exit, 0);
}

static int start_by_orphaning(struct spawn *spawn, char *stack)
{
	int child = (int)sys_spawn(CLONE_VM | CLONE_VFORK, stack + STACK_BYTES, start_orphan,
				   spawn);

	if (child < 0)
		return child;
	while (sys_call4(SYS_wait4, child, NULL, __WALL, NULL) == -EINTR)
		;
	return spawn->drain;
}

/*
 * Returns true after unshare(CLONE_NEWPID): our next child would be process 1 of a new namespace,
 * and when that child ends, the host can make no more processes.
 */
static bool is_namespace_other(void)
{
	static const char own[] = "/proc/self/ns/pid";
	static const char of_children[] = "/proc/self/ns/pid_for_children";
	char names[2][64] = {"", ""};
	struct stat status;

	if (sys_readlink(own, names[0], sizeof(names[0]) - 1) < 0)
		return false;
	if (sys_readlink(of_children, names[1], sizeof(names[1]) - 1) < 0)
		return sys_lstat(of_children, &status) == 0;
	return strcmp(names[0], names[1]) != 0;
}

static bool is_one_number(long call)
{
	uint32_t ids[3];

	return sys_call3(call, &ids[0], &ids[1], &ids[2]) == 0 && ids[0] == ids[1] &&
	       ids[0] == ids[2];
}

/* Returns true if user ids differ: a drain would inherit them, and trust another user's files. */
static bool acts_for_another(void)
{
	return !is_one_number(SYS_getresuid) || !is_one_number(SYS_getresgid);
}

int spawn_drain(const char *folder, const char *database, struct text *why)
{
	/* These variables would load a tool into the drain. */
	static const char *const without[] = {"LD_PRELOAD=", "LD_AUDIT=", NULL};
	const size_t count = environment_count();
	size_t size = 2 * STACK_BYTES + (count + 1) * sizeof(char *);
	uint64_t all = ~UINT64_C(0), before;
	struct spawn spawn = {.drain = -EAGAIN};
	TEXT(path, 1024);
	char *memory;
	int r;

	if (acts_for_another()) {
		text_add(why, "the process's real, effective and saved user or group differ");
		return -EPERM;
	}
	if (is_namespace_other()) {
		text_add(why, "children of this process are in a PID namespace of their own");
		return -ENOSYS;
	}
	r = place_find_drain(&path, why);
	if (r < 0)
		return r;
	memory = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(memory)) {
		text_add(why, "out of memory");
		return -ENOMEM;
	}
	spawn.stack = memory + STACK_BYTES;
	spawn.environment = (char **)(memory + 2 * STACK_BYTES);
	environment_copy(spawn.environment, count, without);
	spawn.arguments[0] = path.buffer;
	spawn.arguments[1] = (char *)folder;
	spawn.arguments[2] = (char *)database;

	/* A child that shares memory must run no signal handler of the host. */
	sys_call4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, sizeof(all));
	r = guard_is_needed() ? guard_start(start_drain, &spawn) : -ENOSYS;
	if (r < 0)
		r = start_by_orphaning(&spawn, memory);
	sys_call4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before, NULL, sizeof(before));
	sys_munmap(memory, size);
	if (r < 0)
		text_format(why, "'%s': %s", path.buffer, text_error(r));
	return r;
}

#define SCOPE "/proc/sys/kernel/yama/ptrace_scope"

static bool is_wanted(void)
{
	const char *lines = getenv("DLPROF_LINES");
	char scope[8];

	if (lines && strcmp(lines, "off") == 0)
		return false;
	return text_read_file(SCOPE, scope, sizeof(scope)) > 0 && scope[0] == '1';
}

void permit_drain(int drain)
{
	TEXT(told, 48);

	if (!is_wanted())
		return;
	sys_call2(SYS_prctl, PR_SET_PTRACER, drain);
	/* The same pid is another process in another PID namespace, so name the namespace, too. */
	text_format(&told, "%d-%lu", drain, process_space());
	environment_set("DLPROF_DRAIN=", told.buffer);
}

void permit_as_told(void)
{
	const char *at = getenv("DLPROF_DRAIN");
	uint64_t drain, space;

	if (at && dlprof_take_number(&at, &drain) && dlprof_take_next(&at, &space) && !*at &&
	    drain && drain <= INT32_MAX && space == process_space())
		sys_call2(SYS_prctl, PR_SET_PTRACER, (long)drain);
}

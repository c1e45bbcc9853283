/* SPDX-License-Identifier: Apache-2.0 */
#include "spawn.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "sys.h"
#include "text.h"

#define STACK_BYTES 65536
#define MAPS_BYTES 8192

extern char **environ;

struct spawn {
	char *arguments[4];
	char **environment;
	char *stack;		/* of the grandchild */
	int result;		/* of exec, written through the shared memory */
};

static const char *const places[] = {
#define DRAIN_PLACE(path) path,
#include "dlprof/drain.def"
#undef DRAIN_PLACE
	NULL,
};

static const char *(*find_own_path)(void);

void spawn_ready(const char *(*own_path)(void))
{
	find_own_path = own_path;
}

/* False: it cannot be told so. What is relative is so to a folder that the host may have left;
 * beside a link there may be another version's drain. */
static bool told_folder(char *folder, size_t size)
{
	const char *path = find_own_path ? find_own_path() : NULL;
	const char *slash = path && path[0] == '/' ? strrchr(path, '/') : NULL;
	char byte;

	if (!slash || (size_t)(slash - path) >= size ||
	    sys_call4(SYS_readlinkat, AT_FDCWD, path, &byte, 1) != -EINVAL)
		return false;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	return true;
}

/* Folder of the mapping that holds this function; of a training's thousands, nearly the last. */
static int mapped_folder(char *folder, size_t size)
{
	uintptr_t here = (uintptr_t)&mapped_folder;
	char line[MAPS_BYTES + 1];
	size_t held = 0;
	int fd, r = -ENOENT;
	long got;

	fd = sys_open("/proc/self/maps", O_RDONLY, 0);
	if (fd < 0)
		return fd;
	while (r == -ENOENT && (got = sys_read(fd, line + held, MAPS_BYTES - held)) > 0) {
		char *at = line, *end;

		held += (size_t)got;
		line[held] = '\0';
		for (; (end = strchr(at, '\n')); at = end + 1) {
			uintptr_t bound[2] = {0, 0};
			const char *digit = at;
			char *path, *slash;

			for (int i = 0; i < 2; i++, digit++)
				for (; *digit != '-' && *digit != ' '; digit++)
					bound[i] = bound[i] * 16 + (uintptr_t)(*digit <= '9' ?
						*digit - '0' : *digit - 'a' + 10);
			if (here < bound[0] || here >= bound[1])
				continue;
			*end = '\0';
			path = strchr(at, '/');
			slash = path ? strrchr(path, '/') : NULL;
			if (slash && (size_t)(slash - path) < size) {
				memcpy(folder, path, (size_t)(slash - path));
				folder[slash - path] = '\0';
				r = 0;
			}
			break;
		}
		held -= (size_t)(at - line);
		memmove(line, at, held);
	}
	sys_close(fd);
	return r;
}

static int find_beside(const char *folder, struct text *path)
{
	for (int i = 0; places[i]; i++) {
		text_init(path, path->buffer, path->size);
		text_add(path, folder);
		text_add(path, places[i]);
		if (sys_call3(SYS_faccessat, AT_FDCWD, path->buffer, 1 /* X_OK */) == 0)
			return 0;
	}
	return -ENOENT;
}

static int find_drain(struct text *path)
{
	char folder[512];
	int r;

	if (told_folder(folder, sizeof(folder)) && find_beside(folder, path) == 0)
		return 0;
	r = mapped_folder(folder, sizeof(folder));
	return r < 0 ? r : find_beside(folder, path);
}

/*
 * Everything but what would load us, or another tool, into the drain; `count` at most, since
 * another thread may add some meanwhile, or take some out.
 */
static void drain_environment(char **copy, size_t count)
{
	char **before = environ, *entry;

	for (size_t i = 0; before && i < count; i++) {
		entry = __atomic_load_n(&before[i], __ATOMIC_RELAXED);
		if (!entry)
			break;
		if (strncmp(entry, "LD_PRELOAD=", 11) != 0 && strncmp(entry, "LD_AUDIT=", 9) != 0)
			*copy++ = entry;
	}
	*copy = NULL;
}

static void exec_drain(void *argument)
{
	struct spawn *spawn = argument;

	spawn->result = (int)sys_call3(SYS_execve, spawn->arguments[0], spawn->arguments,
				       spawn->environment);
	sys_call1(SYS_exit, 127);
}

/*
 * The child in between: its end makes the drain an orphan, which init or a subreaper adopts. What
 * else the drain wants for itself it does after exec(), until which the host waits.
 */
static void start_orphan(void *argument)
{
	struct spawn *spawn = argument;
	long r = sys_spawn(CLONE_VM | CLONE_VFORK, spawn->stack + STACK_BYTES, exec_drain, spawn);

	if (r < 0)
		spawn->result = -EAGAIN;
	sys_call1(SYS_exit, 0);
}

static size_t count_environment(void)
{
	size_t count = 0;

	while (environ && environ[count])
		count++;
	return count;
}

int spawn_drain(const char *folder, const char *database)
{
	const size_t count = count_environment();
	size_t size = 2 * STACK_BYTES + (count + 1) * sizeof(char *);
	uint64_t all = ~UINT64_C(0), before;
	struct spawn spawn = {.result = 0};
	TEXT(path, 640);
	char *memory;
	int child, r;

	r = find_drain(&path);
	if (r < 0)
		return r;
	memory = sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(memory))
		return -ENOMEM;
	spawn.stack = memory + STACK_BYTES;
	spawn.environment = (char **)(memory + 2 * STACK_BYTES);
	drain_environment(spawn.environment, count);
	spawn.arguments[0] = path.buffer;
	spawn.arguments[1] = (char *)folder;
	spawn.arguments[2] = (char *)database;

	/* No handler of the host may run in a child that shares its memory. */
	sys_call4(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before, sizeof(all));
	child = (int)sys_spawn(CLONE_VM | CLONE_VFORK, memory + STACK_BYTES, start_orphan, &spawn);
	if (child > 0)
		while (sys_call4(SYS_wait4, child, NULL, __WALL, NULL) == -EINTR)
			;
	sys_call4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before, NULL, sizeof(before));
	sys_munmap(memory, size);
	return child < 0 ? -EAGAIN : spawn.result;
}

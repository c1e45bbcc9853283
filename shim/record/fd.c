/* SPDX-License-Identifier: Apache-2.0 */
#include "record/fd.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "base/text.h"
#include "record/segment.h"

/* The table gets pages when they are needed, as there may be 2^30 descriptors (RLIMIT_NOFILE). */
#define PAGE_FDS FD_PAGE
#define PAGE_MAX 256

_Atomic uint8_t fd_first_page[PAGE_FDS];
static void *_Atomic pages[PAGE_MAX] = {fd_first_page};

static RARELY _Atomic uint8_t *far_cell(int fd, bool make)
{
	unsigned int index = (unsigned int)fd / PAGE_FDS;
	_Atomic uint8_t *page;

	if (fd < 0 || index >= PAGE_MAX)
		return NULL;
	page = make ? table_map(&pages[index], PAGE_FDS) : atomic_load(&pages[index]);
	return page ? page + (unsigned int)fd % PAGE_FDS : NULL;
}

static inline _Atomic uint8_t *cell(int fd, bool make)
{
	return likely((unsigned int)fd < PAGE_FDS) ? &fd_first_page[fd] : far_cell(fd, make);
}

static const char *const system_folders[] = {
	"/proc/", "/sys/", "/dev/", "/etc/", "/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/", NULL,
};

static const char *const code_suffixes[] = {".py", ".pyc", ".so", ".pyi", ".pth", NULL};

/* Returns false for files in /dev/shm by which tensors are sent. */
static bool is_data_in_shm(const char *path)
{
	if (strncmp(path, "/dev/shm/", 9) != 0)
		return false;
	path += 9;
	return strncmp(path, "torch_", 6) != 0 && strncmp(path, "sem.", 4) != 0 &&
	       strncmp(path, "psm_", 4) != 0 && strncmp(path, "pym-", 4) != 0;
}

static bool is_system(const char *path)
{
	/* The names of all system folders begin with one of these letters. */
	if (path[0] != '/' || !path[1] || !strchr("psdeul", path[1]))
		return false;
	for (int i = 0; system_folders[i]; i++)
		if (strncmp(path, system_folders[i], strlen(system_folders[i])) == 0)
			return !is_data_in_shm(path);
	return false;
}

static bool is_code(const char *path)
{
	const char *dot = strrchr(path, '.');

	/* Files like "libm.so.6" are code. Only code reads descriptions of installed packages. */
	if (!dot)
		return false;
	for (int i = 0; code_suffixes[i] && (dot[1] == 'p' || dot[1] == 's'); i++)
		if (strcmp(dot, code_suffixes[i]) == 0)
			return true;
	return strstr(path, ".so.") || strstr(path, ".dist-info/");
}

OFTEN enum fd_kind fd_kind_of_path(const char *path)
{
	static const char deleted[] = " (deleted)";
	const char *end = strchr(path, ' ') ? path + strlen(path) : NULL;

	if (is_system(path) || is_code(path))
		return FD_OTHER;
	if (end && end - path >= (ptrdiff_t)sizeof(deleted) - 1 &&
	    strcmp(end - (sizeof(deleted) - 1), deleted) == 0)
		return FD_OTHER;
	return FD_NAMED;
}

/* Paths of descriptors. Several descriptors share an entry. Odd version: it is being written. */
struct fd_open_path fd_paths[FD_PATH_COUNT];

static _Atomic uint32_t path_limit; /* no entry from this index on was ever used */

static OFTEN void set_path(int fd, const char *path)
{
	const uint32_t place = (unsigned int)fd % FD_PATH_COUNT;
	struct fd_open_path *open = &fd_paths[place];
	uint32_t version = atomic_load_explicit(&open->version, memory_order_relaxed);
	uint32_t odd = version + 1, limit = path_limit;
	size_t length = strlen(path);

	while (unlikely(place >= limit) &&
	       !atomic_compare_exchange_weak(&path_limit, &limit, place + 1))
		continue;
	/* If another thread is writing this entry, this path is not noted. */
	if (version % 2 || !atomic_compare_exchange_strong(&open->version, &version, version + 1))
		return;
	atomic_thread_fence(memory_order_release);
	/* text_end() would not do: without a known limit, gcc calls memcpy(), which TSan checks. */
	if (length >= FD_PATH_BYTES) {
		path += length - (FD_PATH_BYTES - 1);
		length = FD_PATH_BYTES - 1;
	}
	open->fd = fd;
	memcpy(open->text, path, length + 1);
	if (atomic_compare_exchange_strong(&open->version, &odd, version + 2))
		return;
	open->fd = -1;
	atomic_fetch_add_explicit(&open->version, 1, memory_order_release);
}

static OFTEN void drop_path(int fd)
{
	struct fd_open_path *open = &fd_paths[(unsigned int)fd % FD_PATH_COUNT];

	/* Readers check that the version is even, and still the same afterwards. */
	atomic_fetch_add_explicit(&open->version, 2, memory_order_relaxed);
}

bool fd_link(int fd, char path[FD_PATH_BYTES])
{
	char full[512];
	TEXT(link, 64);
	int length;

	text_format(&link, "/proc/self/fd/%d", fd);
	length = sys_readlink(link.buffer, full, sizeof(full) - 1);
	path[0] = '\0';
	if (length <= 0)
		return false;
	full[length] = '\0';
	strcpy(path, text_end(full, FD_PATH_BYTES));
	return full[0] == '/';
}

OFTEN uint32_t fd_path(int fd, char path[FD_PATH_BYTES])
{
	const struct fd_open_path *open = &fd_paths[(unsigned int)fd % FD_PATH_COUNT];
	uint32_t version = fd_path_version(fd);

	path[0] = '\0';
	if (fd < 0)
		return 0;
	if (version && version % 2 == 0 && open->fd == fd) {
		size_t length = strnlen(open->text, FD_PATH_BYTES - 1);

		memcpy(path, open->text, length);
		atomic_thread_fence(memory_order_acquire);
		path[length] = '\0';
		if (fd_path_version(fd) == version)
			return version;
	}
	if (fd_link(fd, path))
		set_path(fd, path);
	else
		path[0] = '\0';
	return fd_path_version(fd);
}

/* Notes a descriptor's kind and path. A vfork child must not: the table is its parent's. */
static OFTEN void note(int fd, enum fd_kind kind, const char *path)
{
	_Atomic uint8_t *known = cell(fd, true);

	if (!known)
		return;
	if (kind == FD_NAMED)
		set_path(fd, path ? path : "");
	else
		drop_path(fd);
	atomic_store_explicit(known, (uint8_t)kind, memory_order_relaxed);
}

OFTEN bool fd_remember(int fd, enum fd_kind kind, const char *path)
{
	/* A vfork child's table is its parent's, where `fd` may be unused or be another file. */
	if (!segment_is_own())
		return false;
	note(fd, kind, path);
	return true;
}

void fd_copy(int fd, int copy)
{
	enum fd_kind kind = fd_known(fd);
	char path[FD_PATH_BYTES];

	if (copy < 0 || (kind == FD_UNKNOWN && fd_known(copy) == FD_UNKNOWN))
		return;
	if (!segment_is_own())
		return;
	path[0] = '\0';
	if (kind == FD_DATA || kind == FD_NAMED)
		fd_path(fd, path);
	note(copy, kind == FD_DATA ? FD_NAMED : kind, path);
}

OFTEN bool fd_forget(int fd)
{
	if (fd_known(fd) == FD_UNKNOWN)
		return true;
	if (!segment_is_own())
		return false;
	atomic_store_explicit(cell(fd, false), FD_UNKNOWN, memory_order_relaxed);
	drop_path(fd);
	return true;
}

void fd_forget_range(unsigned int first, unsigned int last)
{
	if (!segment_is_own())
		return;
	for (unsigned int page = first / PAGE_FDS; page < PAGE_MAX && page <= last / PAGE_FDS;
	     page++) {
		unsigned int begin = page == first / PAGE_FDS ? first % PAGE_FDS : 0;
		unsigned int end = page == last / PAGE_FDS ? last % PAGE_FDS : PAGE_FDS - 1;
		/* An atomic read, as another thread may be adding the page. */
		_Atomic uint8_t *cells = atomic_load_explicit(&pages[page], memory_order_acquire);

		for (unsigned int i = begin; cells && i <= end; i++)
			atomic_store_explicit(&cells[i], FD_UNKNOWN, memory_order_relaxed);
	}
	for (int i = 0; i < FD_PATH_COUNT; i++)
		drop_path(i);
}

/* Asks the kernel for the kind of a descriptor that was inherited, received or opened unseen. */
static enum fd_kind kind_of_link(int fd)
{
	char path[FD_PATH_BYTES];

	if (!fd_link(fd, path))
		return path[0] ? FD_OTHER : FD_NAMED;
	if (fd_kind_of_path(path) == FD_OTHER)
		return FD_OTHER;
	set_path(fd, path);
	return FD_NAMED;
}

static enum fd_kind kind_of_mode(mode_t mode)
{
	return S_ISFIFO(mode)	? FD_PIPE
	       : S_ISREG(mode)	? FD_DATA
	       : S_ISSOCK(mode) ? FD_SOCKET
	       : S_ISCHR(mode)	? FD_DEVICE
				: FD_OTHER;
}

static enum fd_kind ask_kernel(int fd, enum fd_kind known)
{
	struct stat status;
	enum fd_kind kind;

	if (sys_call2(SYS_fstat, fd, &status) < 0)
		return FD_UNKNOWN;
	kind = kind_of_mode(status.st_mode);
	if (kind == FD_DATA && known == FD_UNKNOWN && kind_of_link(fd) != FD_NAMED)
		return FD_OTHER;
	return kind;
}

/* Keeps data files in a forked child's table: the kernel cannot say what a removed file was. */
void fd_begin(void)
{
	for (int fd = 0; fd < PAGE_MAX * PAGE_FDS; fd++) {
		_Atomic uint8_t *known = cell(fd, false);
		struct stat status;
		bool data;

		if (!known) {
			fd |= PAGE_FDS - 1;
			continue;
		}
		if (*known == FD_UNKNOWN)
			continue;
		data = (*known == FD_DATA || *known == FD_NAMED) &&
		       sys_call2(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode);
		*known = data ? FD_DATA : FD_UNKNOWN;
	}
	for (uint32_t i = 0; i < path_limit; i++) {
		/* A thread of the parent may have been writing this entry at the fork. */
		fd_paths[i].fd = -1;
		atomic_fetch_add(&fd_paths[i].version, fd_paths[i].version % 2 ? 1 : 2);
	}
}

OFTEN enum fd_kind fd_learn(int fd, mode_t mode)
{
	_Atomic uint8_t *known = cell(fd, false);
	uint8_t expected = FD_NAMED;
	enum fd_kind kind;

	if (!known || atomic_load_explicit(known, memory_order_relaxed) != FD_NAMED)
		return FD_UNKNOWN;
	kind = kind_of_mode(mode);
	/* A vfork child that comes here may set a wrong kind for one of its parent's files. */
	return atomic_compare_exchange_strong(known, &expected, (uint8_t)kind) ? kind : FD_UNKNOWN;
}

OFTEN enum fd_kind fd_known(int fd)
{
	_Atomic uint8_t *known = cell(fd, false);

	return known ? atomic_load_explicit(known, memory_order_relaxed) : FD_UNKNOWN;
}

enum fd_kind fd_find_kind(int fd)
{
	_Atomic uint8_t *known;
	enum fd_kind kind;

	if (fd < 0)	/* streams in memory have no descriptor */
		return FD_OTHER;
	known = cell(fd, true);
	kind = known ? atomic_load_explicit(known, memory_order_relaxed) : FD_UNKNOWN;

	if (kind == FD_UNKNOWN || kind == FD_NAMED) {
		if (kind == FD_UNKNOWN && !segment_is_own())
			return FD_OTHER;
		kind = ask_kernel(fd, kind);
		if (known && kind != FD_UNKNOWN)
			atomic_store_explicit(known, (uint8_t)kind, memory_order_relaxed);
	}
	return kind == FD_UNKNOWN ? FD_OTHER : kind;
}

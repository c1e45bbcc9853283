/* SPDX-License-Identifier: Apache-2.0 */
#include "fd.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "segment.h"
#include "sys.h"
#include "text.h"

/* Not sized by RLIMIT_NOFILE, which may be 2^30: pages of 4096 are made as descriptors appear. */
#define PAGE_FDS 4096
#define PAGE_MAX 256

static _Atomic uint8_t first_page[PAGE_FDS];
static _Atomic uint8_t *_Atomic pages[PAGE_MAX] = {first_page};

static _Atomic uint8_t *cell(int fd, bool make)
{
	unsigned int index = (unsigned int)fd / PAGE_FDS;
	_Atomic uint8_t *page, *expected = NULL;
	void *fresh;

	if (fd < 0 || index >= PAGE_MAX)
		return NULL;
	page = atomic_load_explicit(&pages[index], memory_order_acquire);
	if (!page && make) {
		fresh = sys_mmap(PAGE_FDS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (sys_mmap_failed(fresh))
			return NULL;
		page = fresh;
		if (!atomic_compare_exchange_strong(&pages[index], &expected, page)) {
			sys_munmap(fresh, PAGE_FDS);
			page = expected;
		}
	}
	return page ? page + (unsigned int)fd % PAGE_FDS : NULL;
}

static bool ends_with(const char *path, size_t length, const char *suffix)
{
	size_t size = strlen(suffix);

	return length >= size && memcmp(path + length - size, suffix, size) == 0;
}

static const char *const system_folders[] = {
	"/proc/", "/sys/", "/dev/", "/etc/", "/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/", NULL,
};

static const char *const code_suffixes[] = {".py", ".pyc", ".so", ".pyi", ".pth", NULL};

/* /dev/shm holds both datasets that users copied there and the tensors between processes. */
static bool is_data_in_shm(const char *path)
{
	if (strncmp(path, "/dev/shm/", 9) != 0)
		return false;
	path += 9;
	return strncmp(path, "torch_", 6) != 0 && strncmp(path, "sem.", 4) != 0 &&
	       strncmp(path, "psm_", 4) != 0 && strncmp(path, "pym-", 4) != 0;
}

enum fd_kind fd_kind_of_path(const char *path)
{
	size_t length = strlen(path);

	for (int i = 0; system_folders[i]; i++)
		if (strncmp(path, system_folders[i], strlen(system_folders[i])) == 0 &&
		    !is_data_in_shm(path))
			return FD_OTHER;
	for (int i = 0; code_suffixes[i]; i++)
		if (ends_with(path, length, code_suffixes[i]))
			return FD_OTHER;
	if (strstr(path, ".so.") || ends_with(path, length, " (deleted)"))
		return FD_OTHER;
	return FD_NAMED;
}

void fd_remember(int fd, enum fd_kind kind)
{
	_Atomic uint8_t *known = cell(fd, true);

	if (known && segment_is_own())
		atomic_store_explicit(known, (uint8_t)kind, memory_order_relaxed);
}

bool fd_forget(int fd)
{
	if (fd_known(fd) == FD_UNKNOWN)
		return true;
	if (!segment_is_own())
		return false;
	atomic_store_explicit(cell(fd, false), FD_UNKNOWN, memory_order_relaxed);
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

		for (unsigned int i = begin; pages[page] && i <= end; i++)
			atomic_store_explicit(&pages[page][i], FD_UNKNOWN, memory_order_relaxed);
	}
}

/* A descriptor that came by a way we do not see: inherited, passed, dup'ed. */
static enum fd_kind kind_of_link(int fd)
{
	char path[512];
	TEXT(link, 64);
	int length;

	text_add(&link, "/proc/self/fd/");
	text_add_number(&link, fd);
	length = sys_readlink(link.buffer, path, sizeof(path) - 1);
	if (length <= 0)
		return FD_NAMED;
	path[length] = '\0';
	return path[0] == '/' ? fd_kind_of_path(path) : FD_OTHER;
}

static enum fd_kind ask_kernel(int fd, enum fd_kind known)
{
	struct stat status;

	if (sys_call2(SYS_fstat, fd, &status) < 0)
		return FD_UNKNOWN;
	if (S_ISFIFO(status.st_mode))
		return FD_PIPE;
	if (!S_ISREG(status.st_mode))
		return FD_OTHER;
	if (known == FD_UNKNOWN)
		known = kind_of_link(fd);
	return known == FD_NAMED ? FD_DATA : FD_OTHER;
}

enum fd_kind fd_known(int fd)
{
	_Atomic uint8_t *known = cell(fd, false);

	return known ? atomic_load_explicit(known, memory_order_relaxed) : FD_UNKNOWN;
}

enum fd_kind fd_kind(int fd)
{
	_Atomic uint8_t *known = cell(fd, true);
	enum fd_kind kind = known ? atomic_load_explicit(known, memory_order_relaxed) : FD_UNKNOWN;

	if (kind == FD_UNKNOWN || kind == FD_NAMED) {
		kind = ask_kernel(fd, kind);
		if (known && kind != FD_UNKNOWN)
			atomic_store_explicit(known, (uint8_t)kind, memory_order_relaxed);
	}
	return kind == FD_UNKNOWN ? FD_OTHER : kind;
}

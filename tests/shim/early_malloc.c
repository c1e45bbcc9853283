/* SPDX-License-Identifier: Apache-2.0 */
/*
 * early_malloc.c - an allocator that does I/O in its first malloc(), as jemalloc and tcmalloc do.
 *
 * A real allocator holds a lock at its start, which is not recursive: a wrapper of open() or mmap()
 * that allocates would hang, and ends the program with status 98 here. Wrong results of the calls
 * give 99. Nothing is freed. It is linked so that it is initialised before dlprof, in any order.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_BYTES ((size_t)1 << 32)

enum { COLD, STARTING, READY };

static _Atomic int state;
static _Atomic size_t used;
static char *arena;

static void demand(int fine)
{
	if (!fine)
		_exit(99);
}

/* Calls everything that allocators are known to call at their start. */
static void use_system(void)
{
	char text[256];
	int fd;

	errno = 77;
	arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	demand(arena != MAP_FAILED);
	madvise(arena, 4096, MADV_DONTDUMP);
	fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
	demand(fd >= 0);
	demand(read(fd, text, sizeof(text)) > 0);
	demand(close(fd) == 0);
	fd = openat(AT_FDCWD, "/proc/self/maps", O_RDONLY);
	demand(fd >= 0 && pread(fd, text, sizeof(text), 0) > 0 && close(fd) == 0);
	demand(errno == 77);
	demand(readlink("/etc/malloc.conf", text, sizeof(text)) < 0 && errno == ENOENT);
	demand(open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT);
	getenv("MALLOC_CONF");	/* libc may have no environment yet */
}

static void start(void)
{
	int expected = COLD;

	if (atomic_compare_exchange_strong(&state, &expected, STARTING)) {
		use_system();
		atomic_store(&state, READY);
	} else if (expected == STARTING) {
		_exit(98);	/* the first malloc comes before there are threads */
	}
}

static void *take(size_t size, size_t alignment)
{
	size_t whole = size + 2 * alignment, at;
	char *block;

	if (atomic_load(&state) != READY)
		start();
	at = atomic_fetch_add(&used, (whole + 15) & ~(size_t)15);
	if (size > ARENA_BYTES || at + whole > ARENA_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	/* The block's size is stored before the block, for realloc(). */
	block = (char *)(((uintptr_t)arena + at + 2 * alignment - 1) & ~(alignment - 1));
	memcpy(block - sizeof(size), &size, sizeof(size));
	return block;
}

void *malloc(size_t size)
{
	return take(size, 16);
}

__attribute__((constructor)) static void be_first(void)
{
	free(malloc(1));
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return take(bytes, 16);	/* new pages are zero, and no block is handed out twice */
}

void *realloc(void *block, size_t size)
{
	void *moved = take(size, 16);
	size_t before;

	if (!block || !moved)
		return moved;
	memcpy(&before, (char *)block - sizeof(before), sizeof(before));
	return memcpy(moved, block, before < size ? before : size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return take(size, alignment < 16 ? 16 : alignment);
}

void *memalign(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = aligned_alloc(alignment, size);
	return *block ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *block)
{
	size_t size = 0;

	if (block)
		memcpy(&size, (char *)block - sizeof(size), sizeof(size));
	return size;
}

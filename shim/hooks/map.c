/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - times mmap() of data files and later calls on such mappings, within loads. */
#include "hooks/hook.h"

#include <stdatomic.h>
#include <string.h>

#include "batch/freeing.h"

/* Mappings of data files, also in a forked child. `end` is written last and cleared first. */
#define RANGE_MAX 128

static struct range {
	_Atomic uintptr_t begin;
	_Atomic uintptr_t end;
	char path[FD_PATH_BYTES];
} ranges[RANGE_MAX];
static _Atomic uint32_t range_count;

/* Remembers a mapping of a data file. `fd` < 0: the file's path is unknown. */
static void remember(void *address, size_t size, int fd)
{
	uint32_t i;

	for (i = 0; i < RANGE_MAX; i++) {
		uintptr_t expected = 0;

		if (!ranges[i].begin &&
		    atomic_compare_exchange_strong(&ranges[i].begin, &expected, (uintptr_t)address))
			break;
	}
	if (i == RANGE_MAX)
		return;
	fd_path(fd, ranges[i].path);
	ranges[i].end = (uintptr_t)address + size;
	for (uint32_t count = range_count; count <= i;)
		if (atomic_compare_exchange_weak(&range_count, &count, i + 1))
			break;
}

static bool is_data(const void *address, size_t size)
{
	uintptr_t begin = (uintptr_t)address, end = begin + size;
	uint32_t count = range_count;

	for (uint32_t i = 0; i < count; i++)
		if (begin < ranges[i].end && end > ranges[i].begin)
			return true;
	return false;
}

/* The path may change while another thread maps a file, but it always ends with a 0. */
const char *hook_mapped_file(void)
{
	const struct range *first = NULL;
	uint32_t count = range_count;

	for (uint32_t i = 0; i < count; i++) {
		if (!ranges[i].end)
			continue;
		if (first && strcmp(first->path, ranges[i].path) != 0)
			return "";
		first = &ranges[i];
	}
	return first ? first->path : NULL;
}

/* Forgets an unmapped range. A mapping stays if only a part inside it is unmapped. */
static void forget(const void *address, size_t size)
{
	uintptr_t begin = (uintptr_t)address, end = begin + size;
	uint32_t count = range_count;

	for (uint32_t i = 0; i < count; i++) {
		uintptr_t range_begin = ranges[i].begin, range_end = ranges[i].end;

		if (!range_end || begin >= range_end || end <= range_begin)
			continue;
		if (begin <= range_begin && end >= range_end) {
			ranges[i].end = 0;
			ranges[i].begin = 0;
		} else if (begin <= range_begin) {
			ranges[i].begin = end;
		} else if (end >= range_end) {
			ranges[i].end = begin;
		}
	}
}

static bool begin(struct span *span, const char *name)
{
	span->name = name;
	return span_begin_in_load(span, DLPROF_CLASS_READ);
}

bool hook_map_begin(struct span *span, const void *address, size_t size)
{
	return is_data(address, size) && span_begin_in_load(span, DLPROF_CLASS_READ);
}

/* Returns true for a data file. Does not ask the kernel about memory that processes share. */
static bool maps_data(int fd, int protection, int flags)
{
	if (flags & MAP_ANONYMOUS)
		return false;
	if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && fd_known(fd) == FD_UNKNOWN)
		return false;
	return fd_kind(fd) == FD_DATA;
}

static void *note_shared(void *result, int protection, int flags)
{
	if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && result != MAP_FAILED)
		freeing_mapped(result);
	return result;
}

#define DEFINE_MMAP(hook_name, type)                                                               \
	HOOK_EXPORT void *hook_name(void *address, size_t size, int protection, int flags, int fd, \
				    type offset)                                                   \
	{                                                                                          \
		struct span span;                                                                  \
		bool recorded;                                                                     \
		void *result;                                                                      \
                                                                                                   \
		if (likely(!activate_on()) || !maps_data(fd, protection, flags))                   \
			return note_shared(                                                        \
				real.hook_name(address, size, protection, flags, fd, offset),      \
				protection, flags);                                                \
		recorded = begin(&span, #hook_name);                                               \
		if (recorded)                                                                      \
			span.fd = fd;                                                              \
		result = real.hook_name(address, size, protection, flags, fd, offset);             \
		if (recorded)                                                                      \
			span_end(&span, 0, result == MAP_FAILED);                                  \
		if (result != MAP_FAILED)                                                          \
			remember(result, size, fd);                                                \
		return result;                                                                     \
	}
DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)

/* Forget the range first: after munmap(), another thread may map the same addresses. */
HOOK_EXPORT int munmap(void *address, size_t size)
{
	struct freeing freeing;
	struct span span;
	int result;

	if (likely(!activate_on()))
		return real.munmap(address, size);
	if (unlikely(freeing_begin(&freeing, address))) {
		result = real.munmap(address, size);
		freeing_end(&freeing);
		return result;
	}
	if (!is_data(address, size))
		return real.munmap(address, size);
	forget(address, size);
	if (!begin(&span, "munmap"))
		return real.munmap(address, size);
	result = real.munmap(address, size);
	span_end(&span, 0, result < 0);
	return result;
}

/* `flags` decides whether there is a fifth argument. */
HOOK_EXPORT void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
	HOOK_ARGUMENT(void *, new_address, flags);
	struct span span;
	bool recorded;
	void *result;

	if (likely(!activate_on()) || !is_data(address, size))
		return real.mremap(address, size, new_size, flags, new_address);
	forget(address, size);
	recorded = begin(&span, "mremap");
	result = real.mremap(address, size, new_size, flags, new_address);
	if (recorded)
		span_end(&span, 0, result == MAP_FAILED);
	if (result == MAP_FAILED)
		remember(address, size, -1);
	else
		remember(result, new_size, -1);
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c - times mmap() of data files, and later calls on these mappings.
 *
 * Allocators map, unmap and advise all the time, so only mappings of data files are timed, and only
 * in a load. Page faults, which do the reading, are no calls, so no bytes are counted here: scope.c
 * counts the blocks that the device delivers for them.
 */
#include "hooks/hook.h"

#include <stdarg.h>
#include <stdatomic.h>

#include "batch/freeing.h"

/*
 * Mappings of data files. The table lies in private memory, like the mappings, so a forked child
 * has both. A mapping that finds no place is not timed. `end` is written last and cleared first; 0:
 * not valid.
 */
#define RANGE_MAX 128

static struct range {
	_Atomic uintptr_t begin;	/* address; 0: the place is free */
	_Atomic uintptr_t end;
} ranges[RANGE_MAX];
static _Atomic uint32_t range_count;	/* places that were ever in use */

static void remember(void *address, size_t size)
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
	ranges[i].end = (uintptr_t)address + size;
	for (uint32_t count = range_count; count <= i;)
		if (atomic_compare_exchange_weak(&range_count, &count, i + 1))
			break;
}

/* Returns true if the address lies in a mapping of a data file. */
static bool is_data(const void *address, size_t size)
{
	uintptr_t begin = (uintptr_t)address, end = begin + size;
	uint32_t count = range_count;

	for (uint32_t i = 0; i < count; i++)
		if (begin < ranges[i].end && end > ranges[i].begin)
			return true;
	return false;
}

/*
 * Forgets a mapping. If only a part inside is unmapped, it stays: another mapping there may then be
 * timed, too.
 */
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
	if (likely(!thread_loading()) || !span_begin_in_load(span, DLPROF_CLASS_READ))
		return false;
	span->name = name;
	return true;
}

/*
 * Returns true if a call maps data. An unknown descriptor that is mapped shared and writable is
 * memory between processes, such as a worker's tensors, so the kernel is not asked about it.
 */
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
			remember(result, size);                                                    \
		return result;                                                                     \
	}
DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)

/* Forgets the range before the call: after it, another thread's mapping may be there. */
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

/* The flags decide whether a fifth argument exists; if not, the real function ignores it. */
HOOK_EXPORT void *mremap(void *address, size_t size, size_t new_size, int flags, ...)
{
	struct span span;
	va_list values;
	void *new_address, *result;
	bool recorded;

	va_start(values, flags);
	new_address = va_arg(values, void *);
	va_end(values);
	if (likely(!activate_on()) || !is_data(address, size))
		return real.mremap(address, size, new_size, flags, new_address);
	forget(address, size);
	recorded = begin(&span, "mremap");
	result = real.mremap(address, size, new_size, flags, new_address);
	if (recorded)
		span_end(&span, 0, result == MAP_FAILED);
	if (result == MAP_FAILED)
		remember(address, size);
	else
		remember(result, new_size);
	return result;
}

#define DEFINE_ADVISE(hook_name)                                                                   \
	HOOK_EXPORT int hook_name(void *address, size_t size, int advice)                          \
	{                                                                                          \
		struct span span;                                                                  \
		int result;                                                                        \
                                                                                                   \
		if (likely(!activate_on()) || !is_data(address, size) ||                           \
		    !begin(&span, #hook_name))                                                     \
			return real.hook_name(address, size, advice);                              \
		result = real.hook_name(address, size, advice);                                    \
		span_end(&span, 0, result != 0);                                                   \
		return result;                                                                     \
	}
DEFINE_ADVISE(madvise)
DEFINE_ADVISE(posix_madvise)

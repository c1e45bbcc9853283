/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/memory.h"

#include <errno.h>

static ssize_t read_process(const struct memory *memory, const struct iovec *to,
			    const struct iovec *from, size_t count)
{
	ssize_t bytes = process_vm_readv(memory->pid, to, count, from, count, 0);

	return bytes < 0 ? -errno : bytes;
}

void memory_open(struct memory *memory, int32_t pid)
{
	*memory = (struct memory){read_process, pid};
}

void memory_add(struct memory_list *list, uint64_t address, void *bytes, size_t size)
{
	if (list->count == MEMORY_PIECES)
		return;
	list->to[list->count] = (struct iovec){bytes, size};
	list->from[list->count++] = (struct iovec){(void *)(uintptr_t)address, size};
}

int memory_read_list(const struct memory *memory, const struct memory_list *list)
{
	ssize_t left = memory->read(memory, list->to, list->from, list->count);
	size_t done = 0;

	if (left == -EFAULT)
		return 0;
	if (left < 0)
		return (int)left;
	while (done < list->count && (size_t)left >= list->to[done].iov_len)
		left -= (ssize_t)list->to[done++].iov_len;
	return (int)done;
}

int memory_read(const struct memory *memory, uint64_t address, void *bytes, size_t size)
{
	struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
	ssize_t got = memory->read(memory, &to, &from, 1);

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EFAULT;
}

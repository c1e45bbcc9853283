/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/pages.h"

#include <string.h>
#include <unistd.h>

#include "dlprof/hash.h"

#define PAGE_BYTES ((size_t)4096)
#define PAGE_BITS  6

static struct page {
	uint64_t id, number;
	size_t size; /* 0: unused */
	uint8_t bytes[PAGE_BYTES];
} pages[1 << PAGE_BITS];

/* the file opened last; fd -1: it could not be opened */
static struct {
	bool known;
	uint64_t device, inode;
	int fd;
} file;

void pages_rest(void)
{
	if (file.known && file.fd >= 0)
		close(file.fd);
	file.known = false;
}

static int open_file(const struct maps_line *of)
{
	if (file.known && file.inode == of->inode && file.device == of->device)
		return file.fd;
	pages_rest();
	file.known = true;
	file.device = of->device;
	file.inode = of->inode;
	file.fd = maps_open(of->path, of->device, of->inode);
	return file.fd;
}

static ssize_t read_at(const struct maps_line *of, uint64_t offset, void *bytes, size_t size)
{
	int fd = open_file(of);

	return fd < 0 ? -1 : pread(fd, bytes, size, (off_t)offset);
}

uint64_t pages_id(const struct maps_line *of)
{
	return hash_word(0, of->device) ^ of->inode;
}

static const struct page *page_of(const struct maps_line *of, uint64_t number)
{
	uint64_t id = pages_id(of);
	struct page *page = &pages[hash_word(id, number) >> (64 - PAGE_BITS)];
	ssize_t got;

	if (page->size && page->id == id && page->number == number)
		return page;
	got = read_at(of, number * PAGE_BYTES, page->bytes, PAGE_BYTES);
	page->id = id;
	page->number = number;
	page->size = got > 0 ? (size_t)got : 0;
	return page;
}

bool pages_read(const struct maps_line *of, uint64_t offset, void *bytes, size_t size)
{
	if (offset > INT64_MAX - PAGE_BYTES || size > INT64_MAX - PAGE_BYTES - offset)
		return false;
	if (size > PAGE_BYTES)
		return read_at(of, offset, bytes, size) == (ssize_t)size;
	while (size) {
		const struct page *page = page_of(of, offset / PAGE_BYTES);
		size_t at = offset % PAGE_BYTES;
		size_t some = size < PAGE_BYTES - at ? size : PAGE_BYTES - at;

		if (page->size < at + some)
			return false;
		memcpy(bytes, page->bytes + at, some);
		bytes = (uint8_t *)bytes + some;
		offset += some;
		size -= some;
	}
	return true;
}

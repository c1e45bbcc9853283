/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"
#include "dlprof/units.h"

void text_init(struct text *text, char *buffer, size_t size)
{
	text->buffer = buffer;
	text->size = size;
	text->length = 0;
	text->cut = false;
	buffer[0] = '\0';
}

void text_add_bytes(struct text *text, const char *bytes, size_t size)
{
	size_t room = text->size - 1 - text->length;

	if (size > room) {
		size = room;
		text->cut = true;
	}
	memcpy(text->buffer + text->length, bytes, size);
	text->length += size;
	text->buffer[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
	text_add_bytes(text, string, strlen(string));
}

void text_add_all(struct text *text, const char *const *strings)
{
	for (; *strings; strings++)
		text_add(text, *strings);
}

void text_add_number(struct text *text, int64_t number)
{
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
	char digits[21];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (number < 0)
		digits[--at] = '-';
	text_add_bytes(text, digits + at, sizeof(digits) - at);
}

const char *text_error(int error)
{
	static const struct {
		int error;
		const char *words;
	} rows[] = {
		{EACCES, "permission denied"},
		{EPERM, "permission denied"},
		{EROFS, "read-only file system"},
		{ENOSPC, "no space left on device"},
		{EDQUOT, "disk quota exceeded"},
		{EFBIG, "the process may not write files that large (ulimit -f)"},
		{ENOENT, "no such file or directory"},
		{ENOTDIR, "not a directory"},
		{EEXIST, "too many files of that name"},
		{ENAMETOOLONG, "name too long"},
		{EIO, "input/output error"},
		{EBUSY, "it is locked"},
		{ENOMEM, "out of memory"},
		{EMFILE, "too many open files"},
		{ENFILE, "too many open files"},
		{ENOSYS, "this kernel cannot do it"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].error == (error < 0 ? -error : error))
			return rows[i].words;
	return "unexpected error";
}

int text_read_file(const char *path, char *buffer, size_t size)
{
	int fd = sys_open(path, O_RDONLY, 0);
	size_t length = 0;
	long r;

	if (fd < 0)
		return fd;
	while (length < size - 1) {
		r = sys_read(fd, buffer + length, size - 1 - length);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			break;
		length += (size_t)r;
	}
	sys_close(fd);
	buffer[length] = '\0';
	return (int)length;
}

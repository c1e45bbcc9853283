/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>
#include <string.h>

#include "base/sys.h"

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
	switch (error < 0 ? -error : error) {
	case EACCES:
	case EPERM:
		return "permission denied";
	case EROFS:
		return "read-only file system";
	case ENOSPC:
		return "no space left on device";
	case EDQUOT:
		return "disk quota exceeded";
	case EFBIG:
		return "the process may not write files that large (ulimit -f)";
	case ENOENT:
		return "no such file or directory";
	case ENOTDIR:
		return "not a directory";
	case EEXIST:
		return "too many files of that name";
	case ENAMETOOLONG:
		return "name too long";
	case EIO:
		return "input/output error";
	case EBUSY:
		return "it is locked";
	case ENOMEM:
		return "out of memory";
	case EMFILE:
	case ENFILE:
		return "too many open files";
	case ENOSYS:
		return "this kernel cannot do it";
	default:
		return "unexpected error";
	}
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

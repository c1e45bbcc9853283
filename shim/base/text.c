/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <errno.h>

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

void text_format_list(struct text *text, const char *format, va_list values)
{
	for (size_t plain; *format; format++) {
		plain = strcspn(format, "%");
		text_add_bytes(text, format, plain);
		format += plain;
		if (!*format)
			return;
		switch (*++format) {
		case 's':
			text_add(text, va_arg(values, const char *));
			break;
		case 'd':
			text_add_number(text, va_arg(values, int));
			break;
		case 'u':
			text_add_number(text, va_arg(values, unsigned int));
			break;
		case 'l':
			text_add_number(text, va_arg(values, long));
			format++;
			break;
		default:
			return;
		}
	}
}

void text_format(struct text *text, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	text_format_list(text, format, values);
	va_end(values);
}

void text_copy(char *field, size_t size, const char *string)
{
	struct text text;

	text_init(&text, field, size);
	text_add(&text, string);
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

/* No UTF-8 character is cut in two: bytes 10xxxxxx continue a character. */
void label_copy(char *label, const char *text)
{
	size_t length = text ? strnlen(text, LABEL_BYTES) : 0;

	if (length == LABEL_BYTES)
		for (length--; length && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
			continue;
	memcpy(label, text ? text : "", length);
	memset(label + length, 0, LABEL_BYTES - length);
}

static bool ends_with(char *text, size_t length, const char *end)
{
	const size_t size = strlen(end);

	if (length < size || memcmp(text + length - size, end, size) != 0)
		return false;
	text[length - size] = '\0';
	return true;
}

static bool is_named_step(const char *label)
{
	static const char *const before[] = {"training", "trainer", "train", "global",
					     "profiler", "main",    "loop",  "epoch"};
	char letters[LABEL_BYTES], *rest = letters;
	size_t count = 0;

	for (; *label && count < sizeof(letters) - 1; label++)
		if (text_is_letter(*label))
			letters[count++] = (char)(*label | 0x20);
	if (!ends_with(letters, count, "step") && !ends_with(letters, count, "iteration") &&
	    !ends_with(letters, count, "iter"))
		return false;
	for (size_t i = 0; *rest && i < ARRAY_COUNT(before);)
		if (strncmp(rest, before[i], strlen(before[i])) == 0) {
			rest += strlen(before[i]);
			i = 0;
		} else {
			i++;
		}
	return !*rest;
}

static bool is_wanted(const char *label, const char *wanted)
{
	size_t length = strlen(wanted);

	if (strncmp(label, wanted, length) != 0)
		return false;
	for (label += length; *label; label++)
		if (text_is_letter(*label))
			return false;
	return true;
}

bool label_is_step(const char *label, const char *wanted)
{
	return wanted ? is_wanted(label, wanted) : is_named_step(label);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.c - counts the bytes that the kernel delivers to a stream during a call, and has the
 * wrappers of streams that need more than a row.
 *
 * Bytes count when the buffer is refilled, not when they are taken from it. After a seek, libc
 * tracks the descriptor's offset, and the offset's change is the count. Before any seek, the count
 * is the bytes taken plus the growth of what is in the buffer.
 *
 * Not counted: refills in fgetc() and getc(), in wide streams, and of a seek past the end.
 */
#include "hooks/hook.h"

#include <string.h>

#include "record/quick.h"

/* These are from glibc's libio.h, which is not installed. */
#define STREAM_EOF_SEEN	  0x0010
#define STREAM_IN_BACKUP  0x0100
#define STREAM_PUTTING	  0x0800

/* Returns the number of bytes in the buffer, with those that pushed-back characters hide. */
static size_t buffered(const FILE *file)
{
	size_t bytes = (size_t)(file->_IO_read_end - file->_IO_read_ptr);

	if (file->_flags & STREAM_IN_BACKUP)
		bytes += (size_t)(file->_IO_save_end - file->_IO_save_base);
	return bytes;
}

static inline void note_stream(struct hook_stream *stream, FILE *file)
{
	stream->file = file;
	stream->at = file->_IO_read_ptr;
	stream->end = file->_IO_read_end;
	/* Unwritten output will move the descriptor's offset, so it is useless now. */
	stream->offset = file->_flags & STREAM_PUTTING ? -1 : file->_offset;
	stream->buffered_bytes = buffered(file);
}

bool hook_stream_begin(struct span *span, struct hook_stream *stream, FILE *file)
{
	if (!hook_read_begin(span, FILE_FD(file)))
		return false;
	note_stream(stream, file);
	return true;
}

uint64_t hook_stream_bytes(const struct hook_stream *stream, size_t taken_bytes)
{
	const FILE *file = stream->file;
	int64_t bytes;

	if (stream->offset >= 0 && file->_offset >= stream->offset)
		return (uint64_t)(file->_offset - stream->offset);
	bytes = (int64_t)(taken_bytes + buffered(file) - stream->buffered_bytes);
	return bytes > 0 ? (uint64_t)bytes : 0;
}

/* A line may contain NULs, but ends at its newline: the bytes behind are from earlier calls. */
uint64_t hook_stream_line_bytes(const struct hook_stream *stream, const char *line, int size)
{
	const char *newline;

	if (!line || size < 2)
		return hook_stream_bytes(stream, 0);
	if (stream->file->_flags & STREAM_EOF_SEEN)
		return hook_stream_bytes(stream, strlen(line));
	newline = memchr(line, '\n', (size_t)size - 1);
	return hook_stream_bytes(stream, newline ? (size_t)(newline - line) + 1 : (size_t)size - 1);
}

/* If the seek made libc read, the buffer holds the block around the new place. */
uint64_t hook_stream_seek_bytes(const struct hook_stream *stream)
{
	const FILE *file = stream->file;

	if (file->_offset < 0 || file->_offset == stream->offset)
		return 0;
	return (uint64_t)(file->_IO_read_end - file->_IO_read_base);
}

/* If the position moved back or the buffer's end changed, the whole buffer is new. */
uint64_t hook_stream_scan_bytes(const struct hook_stream *stream)
{
	const FILE *file = stream->file;

	if (stream->offset >= 0)
		return hook_stream_bytes(stream, 0);
	if (file->_IO_read_end == stream->end && file->_IO_read_ptr >= stream->at)
		return 0;
	if (file->_IO_read_end == file->_IO_read_base && !stream->at)
		return 0;
	return (uint64_t)(file->_IO_read_end - file->_IO_read_base);
}

HOOK_EXPORT void rewind(FILE *file)
{
	struct hook_stream stream;
	struct span span;

	if (likely(!activate_on()) || !hook_stream_begin(&span, &stream, file)) {
		real.rewind(file);
		return;
	}
	span.name = "rewind";
	real.rewind(file);
	span_end(&span, hook_stream_seek_bytes(&stream), false);
}

/* Lets the real function read single bytes: of larger elements it would not count a partial one. */
#define DEFINE_FREAD(hook_name, params, all, single)                                               \
	static __attribute__((noinline)) size_t recorded_##hook_name params                        \
	{                                                                                          \
		struct hook_stream stream;                                                         \
		struct quick quick;                                                                \
		struct span span;                                                                  \
		size_t total, taken;                                                               \
                                                                                                   \
		if (__builtin_mul_overflow(size, count, &total) || !total)                         \
			return real.hook_name all;                                                 \
		if (quick_begin(&quick, activate_on(), FILE_FD(file))) {                           \
			note_stream(&stream, file);                                                \
			taken = real.hook_name single;                                             \
			quick_end(&quick, (int64_t)hook_stream_bytes(&stream, taken), #hook_name); \
		} else if (hook_stream_begin(&span, &stream, file)) {                              \
			span.name = #hook_name;                                                    \
			taken = real.hook_name single;                                             \
			span_end(&span, hook_stream_bytes(&stream, taken), false);                 \
		} else {                                                                           \
			return real.hook_name all;                                                 \
		}                                                                                  \
		return taken == total ? count : taken / size;                                      \
	}                                                                                          \
	size_t hook_name params;                                                                   \
	HOOK_EXPORT size_t hook_name params                                                        \
	{                                                                                          \
		return likely(!activate_on()) ? real.hook_name all : recorded_##hook_name all;     \
	}
DEFINE_FREAD(fread, (void *buffer, size_t size, size_t count, FILE *file),
	     (buffer, size, count, file), (buffer, 1, total, file))
DEFINE_FREAD(fread_unlocked, (void *buffer, size_t size, size_t count, FILE *file),
	     (buffer, size, count, file), (buffer, 1, total, file))
DEFINE_FREAD(__fread_chk, (void *buffer, size_t room, size_t size, size_t count, FILE *file),
	     (buffer, room, size, count, file), (buffer, room, 1, total, file))
DEFINE_FREAD(__fread_unlocked_chk,
	     (void *buffer, size_t room, size_t size, size_t count, FILE *file),
	     (buffer, room, size, count, file), (buffer, room, 1, total, file))

#define DEFINE_SCAN(hook_name, list_name)                                                          \
	int hook_name(FILE *file, const char *format, ...);                                        \
	HOOK_EXPORT int hook_name(FILE *file, const char *format, ...)                             \
	{                                                                                          \
		struct hook_stream stream;                                                         \
		struct span span;                                                                  \
		va_list values;                                                                    \
		bool recorded;                                                                     \
		int result;                                                                        \
                                                                                                   \
		recorded = unlikely(activate_on()) && hook_stream_begin(&span, &stream, file);     \
		va_start(values, format);                                                          \
		result = real.list_name(file, format, values);                                     \
		va_end(values);                                                                    \
		if (recorded) {                                                                    \
			span.name = #hook_name;                                                    \
			span_end(&span, hook_stream_scan_bytes(&stream), false);                   \
		}                                                                                  \
		return result;                                                                     \
	}

DEFINE_SCAN(fscanf, vfscanf)
DEFINE_SCAN(__isoc99_fscanf, __isoc99_vfscanf)
DEFINE_SCAN(__isoc23_fscanf, __isoc23_vfscanf)

/* SPDX-License-Identifier: Apache-2.0 */
/* decode.c - what wrappers of decode.def do, by family, except those of libjpeg and libpng. */
#include "decode/decode.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/sys.h"
#include "decode/family.h"
#include "decode/image.h"
#include "decode/jpeg.h"
#include "decode/png.h"
#include "decode/unit.h"

/* Reads the host's memory by a system call, as that memory may be unmapped by now. */
static bool peek(const void *from, void *value, size_t size)
{
	struct iovec to = {value, size}, where = {(void *)from, size};

	return sys_call6(SYS_process_vm_readv, sys_getpid(), (long)&to, 1, (long)&where, 1, 0) ==
	       (long)size;
}

static bool is_read_request(const char *request)
{
	const int16_t read_one = 0, read_many = 7;
	int16_t opcode;

	return request && peek(request + 16, &opcode, sizeof(opcode)) &&
	       (opcode == read_one || opcode == read_many);
}

/* Times the submission of reads, during which cached data and files without O_DIRECT are read. */
static void input_submit_end(struct unit *unit, const void *requests, int count)
{
	const void *first;

	if (count > 0 && peek(requests, &first, sizeof(first)) && is_read_request(first))
		unit_end(unit, (struct unit_result){0});
	else
		span_cancel(&unit->span);
}

static void input_aio_end(struct unit *unit, const void *events, int count)
{
	struct unit_result result = {.failed = count < 0 && count != -EINTR};
	bool reads = false;

	for (int i = 0; i < count; i++) {
		const char *event = (const char *)events + 32 * i;
		int64_t size = FIELD(int64_t, event, 16);

		if (!is_read_request(FIELD(const void *, event, 8)))
			continue;
		reads = true;
		result.bytes += size > 0 ? (uint64_t)size : 0;
	}
	result.counted = reads;
	if (reads || count <= 0)
		unit_end(unit, result);
	else
		span_cancel(&unit->span);
}

/* Counts the bytes of all requests if cuFile accepts the batch. */
static void input_cufile_end(struct unit *unit, const void *requests, unsigned int count, bool done)
{
	struct unit_result result = {.counted = done, .failed = !done};
	bool reads = false;

	for (unsigned int i = 0; i < count; i++) {
		const char *request = (const char *)requests + 64 * (size_t)i;

		if (FIELD(uint32_t, request, 48) != 0)
			continue;
		reads = true;
		result.bytes += done ? FIELD(size_t, request, 32) : 0;
	}
	if (reads)
		unit_end(unit, result);
	else
		span_cancel(&unit->span);
}

/* Counts no bytes: only the caller's ring knows how many were read. */
static void input_uring_end(struct unit *unit, int status)
{
	bool in_vain = status == -EAGAIN || status == -ETIME || status == -EINTR;

	unit_end(unit,
		 (struct unit_result){.counted = status >= 0, .failed = status < 0 && !in_vain});
}

static struct unit_result sniffed(const void *data, size_t size)
{
	struct image image = image_sniff(data, size);

	return (struct unit_result){.format = image.format, .width = image.width,
				    .height = image.height};
}

static void buffer_end(struct unit *unit, const void *data, size_t size, bool done)
{
	struct unit_result result = sniffed(data, size);

	result.bytes = size;
	result.counted = done;
	result.failed = !done;
	unit_end(unit, result);
}

static void piece_end(struct unit *unit, const void *handle, const void *data, size_t size,
		      size_t bytes, int status)
{
	const int done = 0, suspended = 5;
	struct unit_result result = sniffed(data, size);

	if (result.width)
		sequence_forget(unit, handle);
	result.bytes = bytes;
	result.counted = status == done;
	result.failed = status != done && status != suspended;
	sequence_part_end(unit, handle, result);
}

/* WebPDecoderConfig begins with width and height. */
static void webp_end(struct unit *unit, const void *data, size_t size, const void *setup,
		     int status)
{
	struct unit_result result = {.bytes = size, .counted = status == 0, .failed = status != 0};

	if (status == 0) {
		result.width = FIELD(uint32_t, setup, 0);
		result.height = FIELD(uint32_t, setup, 4);
	} else {
		result.width = image_sniff(data, size).width;
	}
	unit_end(unit, result);
}

#define END_WEBP_CONFIG	  webp_end(&unit, data, size, setup, result)
#define END_HEADER	  unit_end(&unit, sniffed(data, size))
#define END_HEADER_OK	  END_HEADER
#define END_BUFFER	  buffer_end(&unit, data, size, result == 0)
#define END_BUFFER_PTR	  buffer_end(&unit, data, size, result != NULL)
#define END_PIECE	  piece_end(&unit, handle, data, size, size, result)
/* Ends a call of a function that gets all data, from its beginning, at each call. */
#define END_PIECE_AGAIN	  piece_end(&unit, handle, data, size, result == 0 ? size : 0, result)

/* `first`: the call decoded the image's first part; `whole`: all parts. `done`: it did not fail. */
static void tiff_end(struct unit *unit, const struct wrap_copy *copy, void *tiff, bool first,
		     bool whole, bool done)
{
	const uint32_t width_tag = 256, height_tag = 257;
	int (*get)(void *, uint32_t, ...) = copy->helpers[0];
	struct unit_result result = {.failed = !done};
	int kept = errno;

	if (first || whole)
		sequence_forget(unit, tiff);
	if (!sequence_is_counted(unit, tiff)) {
		result.counted = done;
		if (get)
			(void)(get(tiff, width_tag, &result.width) &&
			       get(tiff, height_tag, &result.height));
	}
	errno = kept;
	sequence_part_end(unit, tiff, result);
}

#define END_TIFF_LINE	     tiff_end(&unit, copy, tiff, !line && !sample, false, result >= 0)
#define END_TIFF_STRIP	     tiff_end(&unit, copy, tiff, !strip, false, result >= 0)
#define END_TIFF_TILE                                                                              \
	tiff_end(&unit, copy, tiff, !x && !y && !z && !sample, false, result >= 0)
#define END_TIFF_RGBA	     tiff_end(&unit, copy, tiff, !line, false, result != 0)
#define END_TIFF_RGBA_TILE   tiff_end(&unit, copy, tiff, !x && !y, false, result != 0)
#define END_TIFF_WHOLE	     tiff_end(&unit, copy, tiff, true, true, result != 0)

#if defined(__x86_64__)
/* cv::Mat begins with flags, dims, rows, columns, data. A Mat without pixels means a failure. */
#define MAT_ROWS(mat)	 FIELD(int32_t, mat, 8)
#define MAT_COLUMNS(mat) FIELD(int32_t, mat, 12)
#define MAT_DATA(mat)	 FIELD(const void *, mat, 16)

static void mat_end(struct unit *unit, const void *mat, const char *format, uint64_t bytes)
{
	int32_t width = MAT_COLUMNS(mat), height = MAT_ROWS(mat);
	bool done = width > 0 && height > 0;

	unit_end(unit, (struct unit_result){
			       .format = format,
			       .width = done ? (uint32_t)width : 0,
			       .height = done ? (uint32_t)height : 0,
			       .bytes = bytes,
			       .counted = done,
			       .failed = !done,
		       });
}

/* cv::InputArray begins with the kind and address of a Mat or vector. */
static void mat_buffer_end(struct unit *unit, const void *mat, const void *array)
{
	const int32_t mat_kind = 1, vector_kind = 3;
	int32_t kind = FIELD(int32_t, array, 0) >> 16 & 31;
	const void *object = FIELD(const void *, array, 8), *data = NULL;
	size_t size = 0;

	if (kind == mat_kind && object && MAT_ROWS(object) > 0 && MAT_COLUMNS(object) > 0) {
		data = MAT_DATA(object);
		size = (size_t)MAT_ROWS(object) * (size_t)MAT_COLUMNS(object);
	} else if (kind == vector_kind && object) {
		data = FIELD(const void *, object, 0);
		size = (size_t)(FIELD(const char *, object, 8) - (const char *)data);
	}
	mat_end(unit, mat, image_sniff(data, size).format, size);
}

#define END_CV_FILE	mat_end(&unit, mat, image_of_path(FIELD(const char *, path, 0)), 0)
#define END_CV_BUFFER	mat_buffer_end(&unit, mat, array)
#endif

/* -EAGAIN is no failure: it is the usual answer. */
static void frame_end(struct unit *unit, const void *context, const void *frame, int status)
{
	struct unit_result result = {.failed = status < 0 && status != -EAGAIN};
	int32_t width, height;

	if (status == 0) {
		width = FIELD(int32_t, frame, 104);
		height = FIELD(int32_t, frame, 108);
		result.counted = true;
		result.width = width > 0 ? (uint32_t)width : 0;
		result.height = height > 0 ? (uint32_t)height : 0;
		result.format = width > 0 ? "video" : "audio";
	}
	sequence_part_end(unit, context, result);
}

static void packet_end(struct unit *unit, const void *context, const void *packet, int status)
{
	int32_t bytes = packet && status == 0 ? FIELD(int32_t, packet, 32) : 0;

	sequence_part_end(unit, context,
		      (struct unit_result){.bytes = bytes > 0 ? (uint64_t)bytes : 0,
					   .failed = status < 0 && status != -EAGAIN});
}

#define END_AV_PACKET	packet_end(&unit, context, packet, result)
#define END_AV_FRAME	frame_end(&unit, context, frame, result)
#define END_AV_READ	unit_end(&unit, NO_BITS)

#define SOUND_READS(mode) ((mode) & 0x10)
#define END_SOUND_ANY                                                                              \
	unit_end(&unit, (struct unit_result){.counted = result && SOUND_READS(mode),               \
					     .failed = !result})
#define END_SOUND_OPEN	    END_SOUND_ANY
#define END_SOUND_OPEN_FD   END_SOUND_ANY
#define END_SOUND	    unit_end(&unit, NO_BITS)

#define END_COUNT(done, size)                                                                      \
	unit_end(&unit, (struct unit_result){.counted = (done), .failed = !(done), .bytes = (size)})
#define END_UNIT       END_COUNT(result == 0, 0)
#define END_TIME       unit_end(&unit, NO_BITS)
#define END_CALL       END_COUNT((ssize_t)result > 0, 0)
#define END_CALL_PTR   END_COUNT(result != NULL, 0)

#define END_PACKER(is_done, has_failed, in, out)                                                   \
	unit_end(&unit, (struct unit_result){.counted = (is_done), .failed = (has_failed),         \
					     .bytes = (in), .made_bytes = (out)})

/* z_stream has next_in, avail_in, and at 24 next_out, avail_out. Result 1: end; -5: no failure. */
#define STREAM_LEFT(stream) ((stream) ? FIELD(uint32_t, stream, 8) : 0)
#define STREAM_ROOM(stream) ((stream) ? FIELD(uint32_t, stream, 32) : 0)
#define BEGIN_INFLATE                                                                              \
	, (BEGIN && (unit.input_bytes = STREAM_LEFT(stream),                                       \
		     unit.room_bytes = STREAM_ROOM(stream), true))
#define END_STREAM(is_done, has_failed)                                                            \
	END_PACKER(is_done, has_failed, unit.input_bytes - STREAM_LEFT(stream),                    \
		   unit.room_bytes - STREAM_ROOM(stream))
#define END_INFLATE	    END_STREAM(result == 1, result < 0 && result != -5)
/* bz_stream and lzma_stream begin like z_stream. Result 4 is bzip2's end. */
#define BEGIN_BZIP2	    BEGIN_INFLATE
#define END_BZIP2	    END_STREAM(result == 4, result < 0)
/* Of lzma's results, 1 is the end, 2 to 4 describe the stream, and 10 asks for more. */
#define LZMA_FAILED(result) ((result) > 4 && (result) != 10)
#define LZMA_LEFT(stream)   ((stream) ? FIELD(size_t, stream, 8) : 0)
#define LZMA_ROOM(stream)   ((stream) ? FIELD(size_t, stream, 32) : 0)
#define BEGIN_LZMA                                                                                 \
	, (BEGIN && (unit.input_bytes = LZMA_LEFT(stream),                                         \
		     unit.room_bytes = LZMA_ROOM(stream), true))
#define END_LZMA                                                                                   \
	END_PACKER(result == 1, LZMA_FAILED(result), unit.input_bytes - LZMA_LEFT(stream),         \
		   unit.room_bytes - LZMA_ROOM(stream))
#define LZMA_AT(at)	    ((at) ? FIELD(size_t, at, 0) : 0)
#define BEGIN_LZMA_BUFFER                                                                          \
	, (BEGIN && (unit.input_bytes = LZMA_AT(at), unit.room_bytes = LZMA_AT(to_at), true))
#define END_LZMA_BUFFER                                                                            \
	END_PACKER(result == 0, LZMA_FAILED(result), LZMA_AT(at) - unit.input_bytes,               \
		   LZMA_AT(to_at) - unit.room_bytes)
/* Sizes have 64 bits (in bzip2: 32), so read only the low half. */
#define LOW_SIZE(size)	    (FIELD(uint32_t, size, 0))
#define END_UNCOMPRESS                                                                             \
	END_PACKER(result == 0, result != 0, size, result == 0 ? LOW_SIZE(to_size) : 0)
#define END_UNCOMPRESS2                                                                            \
	END_PACKER(result == 0, result != 0, FIELD(unsigned long, size, 0),                        \
		   result == 0 ? LOW_SIZE(to_size) : 0)

#define ZSTD_FAILED(result) ((result) > (size_t)-120)
#define END_ZSTD                                                                                   \
	END_PACKER(!ZSTD_FAILED(result), ZSTD_FAILED(result), size,                                \
		   ZSTD_FAILED(result) ? 0 : result)
/* ZSTD_inBuffer and ZSTD_outBuffer: data, size, position. Result 0: a frame's end. */
#define BEGIN_ZSTD_STREAM                                                                          \
	, (BEGIN && (unit.input_bytes = FIELD(size_t, from, 16),                                   \
		     unit.room_bytes = FIELD(size_t, to, 16), true))
#define END_ZSTD_STREAM                                                                            \
	END_PACKER(result == 0, ZSTD_FAILED(result), FIELD(size_t, from, 16) - unit.input_bytes,   \
		   FIELD(size_t, to, 16) - unit.room_bytes)

#define END_LZ4                                                                                    \
	END_PACKER(result >= 0, result < 0, size > 0 ? (uint64_t)size : 0,                         \
		   result > 0 ? (uint64_t)result : 0)
#define END_LZ4F                                                                                   \
	END_PACKER(result == 0, ZSTD_FAILED(result), FIELD(size_t, size, 0),                       \
		   ZSTD_FAILED(result) ? 0 : FIELD(size_t, to_size, 0))

/* An image of OpenJPEG begins with x0, y0, x1, y1. */
#define OPJ_WIDTH(image)  (FIELD(uint32_t, image, 8) - FIELD(uint32_t, image, 0))
#define OPJ_HEIGHT(image) (FIELD(uint32_t, image, 12) - FIELD(uint32_t, image, 4))
#define END_OPJ                                                                                    \
	unit_end(&unit, (struct unit_result){.counted = result && image,                           \
					     .failed = !result,                                    \
					     .width = image ? OPJ_WIDTH(image) : 0,                \
					     .height = image ? OPJ_HEIGHT(image) : 0})

/* Of libjxl's results, 1 is an error, and 4096 an image; results between ask for more. */
#define END_JXL                                                                                    \
	unit_end(&unit, (struct unit_result){.counted = result == 4096, .failed = result == 1})

struct heif_status {
	int code, detail;
	const char *text;
};

static uint32_t heif_size(const struct wrap_copy *copy, int helper, const void *handle)
{
	int (*size)(const void *) = (int (*)(const void *))copy->helpers[helper];
	int length = size ? size(handle) : 0;

	return length > 0 ? (uint32_t)length : 0;
}

#define END_HEIF                                                                                   \
	unit_end(&unit, (struct unit_result){.counted = !result.code,                              \
					     .failed = result.code,                                \
					     .width = heif_size(copy, 0, handle),                  \
					     .height = heif_size(copy, 1, handle)})

/* If the caller asks for no size of the output, the output fills the whole buffer. */
#define END_DEFLATE                                                                                \
	END_PACKER(result == 0, result != 0, size,                                                 \
		   result != 0 ? 0 : ret_size ? FIELD(size_t, ret_size, 0) : room)

#define END_READ	 END_COUNT(result >= 0, result > 0 ? (uint64_t)result : 0)
/* A cuFile call's result is two numbers. The first is 0 on success. */
#define CUFILE_DONE(result) ((uint32_t)(result) == 0)
#define END_READ_ASYNC                                                                             \
	END_COUNT(CUFILE_DONE(result), CUFILE_DONE(result) ? FIELD(size_t, sizes, 0) : 0)
#define END_READ_BATCH	 input_cufile_end(&unit, requests, count, CUFILE_DONE(result))
#define END_WAIT	 input_uring_end(&unit, result)
#define END_AIO		 input_aio_end(&unit, events, result)
#define END_AIO_SUBMIT	 input_submit_end(&unit, requests, result)

#define WRAP_ROWS	 "decode/decode.def"
#define WRAP_SET	 decode_slots
#define WRAP_LIBRARIES	 table_marks
#define WRAP_LIBRARY(id) DECODE_##id
#define WRAP_REACHED	 table_reached
#define WRAP_STATE	 struct unit unit __attribute__((unused))
#include "slots/wrap_rows.h"

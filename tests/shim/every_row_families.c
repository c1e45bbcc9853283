/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_row_families.c - each row's arguments, the library's answer, and what dlprof must count by
 * the row's family for a call that succeeds and for one that fails. A new family does not compile
 * without a case in tell_family().
 */
#include <stdlib.h>
#include <string.h>

#include "every_row.h"

#define BYTES 30 /* bytes that a stream takes in at a call */
#define MADE  70 /* bytes that it gives out at a call */

struct told expected;
bool same_answer;

static char *object; /* zeroes, at an address that the shim has not seen yet */

/* Arguments, by the names that decode.def gives to them. */
static long wait_us, bytes;
static long size, data, pixels, to, count, stream, handle, height, width, room, info, context, from,
	tiff, sound, samples, png, flags, stride, kind, function, shared, ring, nvjpeg, decoder, y,
	pitch, lines, limit, format, event, to_pitch, stop, mat, mask, line, from_pitch, file, x,
	words, to_size, strides, setup, ret_size, path, mode, jpeg, image, buffer, words_size, v, u,
	strip, space, shown, sampling, sample, planes, parameters, packet, options, most, least,
	graph, events, array, align, z, y_stride, y_room, wanted, version, v_stride, v_room,
	uv_stride, u_stride, u_room, transforms, to_strides, submit, sizes, scan, require, requests,
	end_info, end, status, tensors, construction, node, is_deferred, name, color,
	pixel_bytes, orientation, offset, nothing, more, map, item, into, frame, flush, features,
	fd, device_offset, device, codec, closes, chroma, calls, background, arguments, action,
	allocator, at, error, small, to_at, whence, value, to_device, from_device;
static struct cuda_dim3 grid, block;

/* Headers of a JPEG's frame and of an extended WebP, of 300 x 200 pixels. */
static const uint8_t jpeg_file[] = {0xff, 0xd8, 0xff, 0xc0, 0, 17,   8, 0, 200,  1, 44,
				    3,    1,    0x22, 0,    2, 0x11, 1, 3, 0x11, 1};
static const uint8_t webp_file[] = {'R', 'I', 'F', 'F', 22,  0,   0,  0,   'W', 'E',
				    'B', 'P', 'V', 'P', '8', 'X', 10, 0,   0,   0,
				    0,   0,   0,   0,   43,  1,   0,  199, 0,   0};

#define AT(type, offset) (*(type *)(object + (offset)))

/* Effects of a call: take BYTES from libjpeg's source, a zlib stream or zstd's buffer. */
static void take_jpeg(void)
{
	const uint8_t **source = AT(const uint8_t **, 40);

	source[0] += BYTES;
	((size_t *)source)[1] -= BYTES;
}

static void take_inflate(void)
{
	AT(uint32_t, 8) -= BYTES;
	AT(uint32_t, 32) -= MADE;
}

static void take_lzma(void)
{
	AT(size_t, 8) -= BYTES;
	AT(size_t, 32) -= MADE;
}

static void take_at(void)
{
	AT(size_t, 0) += BYTES;
	AT(size_t, 512) += MADE;
}

static void take_zstd(void)
{
	AT(size_t, 16) += BYTES;
	AT(size_t, 512 + 16) += MADE;
}

/* Sets a JPEG's source and reads its header; `starts`: starts to decompress it too. */
static void begin_jpeg(bool starts)
{
	static struct {
		const uint8_t *next;
		size_t left;
	} source;

	source.next = jpeg_file;
	source.left = 1000;
	AT(void *, 40) = &source;
	AT(uint32_t, 48) = ROW_WIDTH;
	AT(uint32_t, 52) = ROW_HEIGHT;
	row_effect = take_jpeg;
	row_answer[0] = 1;
	jpeg_read_header(object, 1);
	if (starts)
		jpeg_start_decompress(object);
	expected = (struct told){.count = 1, .width = ROW_WIDTH};
}

static void answer(long value)
{
	row_answer[0] = (uint64_t)value;
}

static void counted(bool done, uint64_t bytes, uint64_t image_width)
{
	expected = (struct told){.count = done,
				 .failed_count = !done,
				 .bytes = bytes,
				 .width = image_width,
				 .unknown = !done && !image_width};
}

enum family {
	JPEG_HEADER,
	JPEG_START,
	JPEG_ROW,
	JPEG_FINISH,
	JPEG_CLOSE,
	HEADER,
	HEADER_OK,
	BUFFER,
	BUFFER_PTR,
	WEBP_CONFIG,
	PIECE,
	PIECE_AGAIN,
	PNG,
	PNG_HEADER,
	PNG_PIXELS,
	PNG_ROW,
	PNG_FINISH,
	PNG_CLOSE,
	PNG_WHOLE,
	PNG_PUSH,
	PNG_SIMPLE,
	TIFF_LINE,
	TIFF_STRIP,
	TIFF_TILE,
	TIFF_RGBA,
	TIFF_RGBA_TILE,
	TIFF_WHOLE,
	OPJ,
	JXL,
	HEIF,
	UNIT,
	CV_FILE,
	CV_BUFFER,
	TIME,
	AV_PACKET,
	AV_FRAME,
	AV_READ,
	SOUND_OPEN,
	SOUND_OPEN_FD,
	SOUND,
	INFLATE,
	BZIP2,
	LZMA,
	LZMA_BUFFER,
	UNCOMPRESS,
	UNCOMPRESS2,
	CALL,
	CALL_PTR,
	ZSTD,
	ZSTD_STREAM,
	LZ4,
	LZ4F,
	DEFLATE,
	READ,
	READ_ASYNC,
	READ_BATCH,
	WAIT,
	AIO,
	AIO_SUBMIT,
};

static void set_arguments(bool is_webp)
{
	info = handle = context = png = tiff = decoder = sound = stream = codec = image = mat =
		array = packet = frame = ring = file = setup = (long)object;
	data = (long)(is_webp ? webp_file : jpeg_file);
	size = is_webp ? sizeof(webp_file) : sizeof(jpeg_file);
	end = status = tensors = construction = node = name = device = (long)object;
	line = strip = sample = x = y = z = 0;
	row_effect = NULL;
	row_answer[1] = 0;
	answer(0);
}

/* Expects a call that unpacks: `made` bytes came out, even of a stream that fails later. */
static void unpacked(bool done, uint64_t bytes, uint64_t made)
{
	counted(done, bytes, 0);
	expected.made = made;
}

/* Sets the arguments, the library's answer and effect, and what dlprof must count for them. */
static void tell_family(enum family family, enum decode_library_id library, bool done)
{
	const bool is_webp = library == DECODE_WEBP;
	static const char *name_of_file = "/data/image.png";
	static const void *ends[2], *pointers[1], *handles[1];

	set_arguments(is_webp);
	switch (family) {
	case JPEG_HEADER:
	case JPEG_START:
	case JPEG_ROW:
	case JPEG_FINISH:
	case JPEG_CLOSE: /* conclude() then calls jpeg_finish_decompress() */
		begin_jpeg(family != JPEG_HEADER && family != JPEG_START);
		expected.bytes = 3 * BYTES;
		expected.bytes += (family == JPEG_ROW || family == JPEG_HEADER) * BYTES;
		expected.bytes -= (family == JPEG_CLOSE) * BYTES;
		return;
	case HEADER:
	case HEADER_OK:
		answer(family == HEADER_OK);
		expected = (struct told){.width = ROW_WIDTH, .format = is_webp ? "WebP" : "JPEG"};
		return;
	case BUFFER:
	case PIECE:
		answer(done ? 0 : 1);
		counted(done, (uint64_t)size, ROW_WIDTH);
		return;
	case PIECE_AGAIN:
		answer(done ? 0 : 1);
		counted(done, done ? (uint64_t)size : 0, ROW_WIDTH);
		return;
	case BUFFER_PTR:
		answer(done ? (long)object : 0);
		counted(done, (uint64_t)size, ROW_WIDTH);
		return;
	case WEBP_CONFIG:
		AT(uint32_t, 0) = ROW_WIDTH;
		AT(uint32_t, 4) = ROW_HEIGHT;
		answer(done ? 0 : 1);
		counted(done, (uint64_t)size, ROW_WIDTH);
		return;
	case PNG:
		expected = (struct told){.unknown = true};
		return;
	case PNG_HEADER:
		expected = (struct told){.width = ROW_WIDTH};
		return;
	case PNG_PIXELS:
	case PNG_ROW:
	case PNG_FINISH:
	case PNG_CLOSE:
		png_read_info(object, object);
		if (!done || family == PNG_FINISH || family == PNG_CLOSE) /* has a row before */
			png_read_row(object, NULL, NULL);
		expected = (struct told){.count = 1, .width = ROW_WIDTH};
		handles[0] = object;
		at = (long)handles;
		return;
	case PNG_WHOLE:
		counted(true, 0, ROW_WIDTH);
		return;
	case PNG_PUSH:
		counted(true, (uint64_t)size, ROW_WIDTH);
		return;
	case PNG_SIMPLE:
		AT(uint32_t, 12) = ROW_WIDTH;
		AT(uint32_t, 16) = ROW_HEIGHT;
		answer(done);
		counted(done, 0, ROW_WIDTH);
		return;
	case TIFF_LINE:
	case TIFF_STRIP:
	case TIFF_TILE:
		answer(done ? 100 : -1);
		counted(done, 0, ROW_WIDTH);
		return;
	case TIFF_RGBA:
	case TIFF_RGBA_TILE:
	case TIFF_WHOLE:
		answer(done);
		counted(done, 0, ROW_WIDTH);
		return;
	case OPJ:
		AT(uint32_t, 0) = 10;
		AT(uint32_t, 4) = 20;
		AT(uint32_t, 8) = 10 + ROW_WIDTH;
		AT(uint32_t, 12) = 20 + ROW_HEIGHT;
		answer(done);
		counted(done, 0, ROW_WIDTH);
		return;
	case JXL:
		answer(done ? 4096 : 1);
		counted(done, 0, 0);
		return;
	case HEIF:
		answer(!done);
		counted(done, 0, ROW_WIDTH);
		return;
	case UNIT:
		answer(!done);
		counted(done, 0, 0);
		return;
	case CV_FILE:
	case CV_BUFFER:
		AT(int32_t, 8) = done ? ROW_HEIGHT : 0;
		AT(int32_t, 12) = done ? ROW_WIDTH : 0;
		ends[0] = jpeg_file;
		ends[1] = jpeg_file + sizeof(jpeg_file);
		path = (long)&name_of_file;
		array = (long)(object + 64);
		AT(int32_t, 64) = 3 << 16;
		AT(const void *, 72) = ends;
		answer((long)object);
		counted(done, family == CV_FILE ? 0 : sizeof(jpeg_file), done ? ROW_WIDTH : 0);
		expected.format = family == CV_FILE ? "PNG" : "JPEG";
		return;
	case TIME:
	case AV_READ:
	case SOUND:
		expected = (struct told){.unknown = true};
		return;
	case AV_PACKET:
		AT(int32_t, 32) = BYTES;
		answer(done ? 0 : -22);
		expected = (struct told){
			.failed_count = !done, .bytes = done ? BYTES : 0, .unknown = true};
		return;
	case AV_FRAME:
		AT(int32_t, 104) = ROW_WIDTH;
		AT(int32_t, 108) = ROW_HEIGHT;
		answer(done ? 0 : -22);
		counted(done, 0, done ? ROW_WIDTH : 0);
		return;
	case SOUND_OPEN:
	case SOUND_OPEN_FD:
		mode = 0x10;
		answer(done ? (long)object : 0);
		counted(done, 0, 0);
		return;
	case INFLATE:
		AT(uint32_t, 8) = AT(uint32_t, 32) = 1000;
		row_effect = take_inflate;
		answer(done ? 1 : -3);
		unpacked(done, BYTES, MADE);
		return;
	case BZIP2:
		AT(uint32_t, 8) = AT(uint32_t, 32) = 1000;
		row_effect = take_inflate;
		answer(done ? 4 : -5);
		unpacked(done, BYTES, MADE);
		return;
	case LZMA:
		AT(size_t, 8) = AT(size_t, 32) = 1000;
		row_effect = take_lzma;
		answer(done ? 1 : 9);
		unpacked(done, BYTES, MADE);
		return;
	case LZMA_BUFFER:
		at = (long)object;
		to_at = (long)(object + 512);
		row_effect = take_at;
		answer(done ? 0 : 9);
		unpacked(done, BYTES, MADE);
		return;
	case UNCOMPRESS2:
		AT(unsigned long, 0) = BYTES;
		AT(unsigned long, 512) = MADE;
		to_size = (long)(object + 512);
		size = (long)object;
		answer(done ? 0 : -3);
		unpacked(done, BYTES, done ? MADE : 0);
		return;
	case UNCOMPRESS:
	case DEFLATE:
		AT(unsigned long, 512) = MADE;
		to_size = ret_size = (long)(object + 512);
		answer(done ? 0 : 3);
		unpacked(done, (uint64_t)size, done ? MADE : 0);
		return;
	case CALL:
	case CALL_PTR:
		answer(done ? BYTES : 0);
		counted(done, 0, 0);
		return;
	case ZSTD:
		answer(done ? 100 : -20);
		unpacked(done, (uint64_t)size, done ? 100 : 0);
		return;
	case ZSTD_STREAM:
		from = (long)object;
		to = (long)(object + 512);
		row_effect = take_zstd;
		answer(done ? 0 : -20);
		unpacked(done, BYTES, MADE);
		return;
	case LZ4:
		answer(done ? 100 : -20);
		unpacked(done, (uint64_t)size, done ? 100 : 0);
		return;
	case LZ4F:
		AT(size_t, 0) = BYTES;
		AT(size_t, 512) = MADE;
		to_size = (long)(object + 512);
		size = (long)object;
		answer(done ? 0 : -20);
		unpacked(done, BYTES, done ? MADE : 0);
		return;
	case READ:
		answer(done ? BYTES : -1);
		counted(done, done ? BYTES : 0, 0);
		return;
	case READ_ASYNC: /* counts the bytes asked for, if the call is accepted */
		AT(size_t, 0) = BYTES;
		sizes = (long)object;
		answer(done ? 0 : 5011);
		counted(done, done ? BYTES : 0, 0);
		return;
	case READ_BATCH: /* one read and one write */
		count = 2;
		AT(size_t, 32) = BYTES;
		AT(size_t, 64 + 32) = 7 * BYTES;
		AT(uint32_t, 64 + 48) = 1;
		requests = (long)object;
		answer(done ? 0 : 5011);
		counted(done, done ? BYTES : 0, 0);
		return;
	case WAIT:
		answer(done ? 0 : -5);
		counted(done, 0, 0);
		return;
	case AIO_SUBMIT: /* one read; nothing is recorded if none was accepted */
		pointers[0] = object;
		requests = (long)pointers;
		answer(done ? 1 : -11);
		expected = (struct told){.unknown = true};
		expected.nothing = !done;
		return;
	case AIO:
		AT(void *, 8) = object + 64;
		AT(int64_t, 16) = BYTES;
		events = (long)object;
		answer(done ? 1 : -22);
		counted(done, done ? BYTES : 0, 0);
		return;
	}
}

static void conclude_family(enum family family)
{
	if (family == JPEG_HEADER || family == JPEG_START || family == JPEG_ROW) {
		answer(1);
		if (family == JPEG_HEADER)
			jpeg_start_decompress(object);
		jpeg_finish_decompress(object);
	}
}

#define STRIP(...) __VA_ARGS__
#define WRAP(library, family, type, name, params, args)                                            \
	static void hit_##name(void)                                                               \
	{                                                                                          \
		type result = name args;                                                           \
                                                                                                   \
		same_answer &= memcmp(&result, row_answer, sizeof(result)) == 0;                   \
	}
#define WRAP_VOID(library, family, name, params, args)                                             \
	static void hit_##name(void)                                                               \
	{                                                                                          \
		name args;                                                                         \
	}
#include "every_row.def"
#undef WRAP
#undef WRAP_VOID

static const struct row_case {
	enum decode_library_id library;
	enum family family;
} cases[] = {
#define WRAP(library, family, type, name, params, args) [ROW_##name] = {DECODE_##library, family},
#define WRAP_VOID(library, family, name, params, args)	WRAP(library, family, , name, , )
#include "decode/decode.def"
#undef WRAP
};

static void (*const hits[])(void) = {
#define WRAP(library, family, type, name, params, args) [ROW_##name] = hit_##name,
#include "every_row.def"
#undef WRAP
};

void tell(enum row row, bool done)
{
	object = calloc(1, 1024);
	same_answer = true;
	if (row < ROW_DECODER_MAX) {
		tell_family(cases[row].family, cases[row].library, done);
	} else { /* for other rows only the call itself is checked */
		set_arguments(false);
		expected = (struct told){.nothing = true};
	}
}

/* Returns the library of a row; of a row that is no decoder any will do. */
enum decode_library_id row_library(enum row row)
{
	return row < ROW_DECODER_MAX ? cases[row].library : DECODE_JPEG;
}

void hit(enum row row)
{
	hits[row]();
}

void conclude(enum row row)
{
	if (row < ROW_DECODER_MAX)
		conclude_family(cases[row].family);
	row_effect = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_row.c - calls every function of decode/decode.def, through its own import slots, and looks
 * in the segment of this very process for what was counted.
 *
 * Runs under the preload with DLPROF_ACTIVATE=always. What a family must say of a call that did its
 * work, and of one that failed, stands in a case of tell(): a new one does not compile without.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/segment.h"
#include "every_row.h"

#define BYTES 30 /* that a stream takes in at a call */

/* What one call, or one sequence of calls, adds. */
struct told {
	uint64_t count, failed_count, bytes, width, pixels;
	const char *format; /* NULL: the library's */
	bool nothing;       /* not even time */
	bool unknown;       /* an image of which nobody knows what it was: no tally */
};

/* By the names that decode.def gives them. */
static long wait_us, bytes;
static long size, data, pixels, to, count, stream, handle, height, width, room, info, context, from,
	tiff, sound, samples, png, flags, stride, kind, function, shared, ring, nvjpeg, decoder, y,
	pitch, lines, limit, format, event, to_pitch, stop, mat, mask, line, from_pitch, file, x,
	words, to_size, strides, setup, ret_size, path, mode, jpeg, image, buffer, words_size, v, u,
	strip, space, shown, sampling, sample, planes, parameters, packet, options, most, least,
	graph, events, array, align, z, y_stride, y_room, wanted, version, v_stride, v_room,
	uv_stride, u_stride, u_room, transforms, to_strides, submit, sizes, scan, require, requests,
	end_info,
	pixel_bytes, orientation, offset, nothing, more, map, item, into, frame, flush, features,
	fd, device_offset, device, codec, closes, chroma, calls, background, arguments, action,
	allocator, at, error, small, to_at, whence;
static struct cuda_dim3 grid, block;

/* 300 x 200: the frame header of a JPEG, and an extended WebP's. */
static const uint8_t jpeg_file[] = {0xff, 0xd8, 0xff, 0xc0, 0, 17,   8, 0, 200,  1, 44,
				    3,    1,    0x22, 0,    2, 0x11, 1, 3, 0x11, 1};
static const uint8_t webp_file[] = {'R', 'I', 'F', 'F', 22,  0,   0,  0,   'W', 'E',
				    'B', 'P', 'V', 'P', '8', 'X', 10, 0,   0,   0,
				    0,   0,   0,   0,   43,  1,   0,  199, 0,   0};

static const struct {
	const char *name, *format, *mark;
	enum decode_sort sort;
} libraries[] = {
#define DECODER(id, name, format, sort, mark, first, second)                                       \
	{name, format, mark, DECODE_SORT_##sort},
#include "decode/libraries.def"
#undef DECODER
};

static struct dlprof_slot *slot;
static struct told expected;
static char *object; /* zeroes, of an address that was never seen before */
static int failures;

#define AT(type, offset) (*(type *)(object + (offset)))

static void fail(bool done, const char *name, const char *what, uint64_t found, uint64_t wanted)
{
	failures++;
	printf("FAIL: %s, that %s: %s: found %llu, expected %llu\n", name,
	       done ? "succeeds" : "fails", what, (unsigned long long)found,
	       (unsigned long long)wanted);
}

static void check(bool done, const char *name, const char *what, uint64_t found, uint64_t wanted)
{
	if (found != wanted)
		fail(done, name, what, found, wanted);
}

/* A source of libjpeg, or a zlib stream, or a buffer of zstd: what it had is taken. */
static void take_jpeg(void)
{
	const uint8_t **source = AT(const uint8_t **, 40);

	source[0] += BYTES;
	((size_t *)source)[1] -= BYTES;
}

static void take_inflate(void)
{
	AT(uint32_t, 8) -= BYTES;
}

static void take_lzma(void)
{
	AT(size_t, 8) -= BYTES;
}

static void take_at(void)
{
	AT(size_t, 0) += BYTES;
}

static void take_zstd(void)
{
	AT(size_t, 16) += BYTES;
}

/* The sequence that a row is part of has begun: a JPEG with its header, a PNG with its. */
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
	WAIT,
	AIO,
	AIO_SUBMIT,
	CUDA_LAUNCH,
	CUDA_GRAPH,
	CUDA_STREAM,
	CUDA_EVENT,
	CUDA_DEVICE,
	CUDA_COPY,
	CUDA_COPY_2D,
	TF_MADE,
	TF_ASKED,
	TF_WAITED,
	TF_FETCHED,
};

/* Sets the arguments, what the library answers and does, and what that must add. */
static void tell(enum family family, enum decode_library_id library, bool done)
{
	const bool is_webp = library == DECODE_WEBP;
	static const char *name_of_file = "/data/image.png";
	static const void *ends[2], *pointers[1], *handles[1];

	info = handle = context = png = tiff = decoder = sound = stream = codec = image = mat =
		array = packet = frame = ring = file = setup = (long)object;
	data = (long)(is_webp ? webp_file : jpeg_file);
	size = is_webp ? sizeof(webp_file) : sizeof(jpeg_file);
	line = strip = sample = x = y = z = 0;
	row_effect = NULL;
	row_answer[1] = 0;
	switch (family) {
	case JPEG_HEADER:
	case JPEG_START:
	case JPEG_ROW:
	case JPEG_FINISH:
	case JPEG_CLOSE: /* ends with jpeg_finish_decompress(), if it may */
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
		if (!done || family == PNG_FINISH || family == PNG_CLOSE) /* more of the same */
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
		AT(uint32_t, 8) = 1000;
		row_effect = take_inflate;
		answer(done ? 1 : -3);
		counted(done, BYTES, 0);
		return;
	case BZIP2:
		AT(uint32_t, 8) = 1000;
		row_effect = take_inflate;
		answer(done ? 4 : -5);
		counted(done, BYTES, 0);
		return;
	case LZMA:
		AT(size_t, 8) = 1000;
		row_effect = take_lzma;
		answer(done ? 1 : 9);
		counted(done, BYTES, 0);
		return;
	case LZMA_BUFFER:
		at = (long)object;
		row_effect = take_at;
		answer(done ? 0 : 9);
		counted(done, BYTES, 0);
		return;
	case UNCOMPRESS2:
		AT(unsigned long, 0) = BYTES;
		size = (long)object;
		answer(done ? 0 : -3);
		counted(done, BYTES, 0);
		return;
	case UNCOMPRESS:
	case DEFLATE:
		answer(done ? 0 : 3);
		counted(done, (uint64_t)size, 0);
		return;
	case CALL:
	case CALL_PTR:
		answer(done ? BYTES : 0);
		counted(done, 0, 0);
		return;
	case ZSTD:
		answer(done ? 100 : -20);
		counted(done, (uint64_t)size, 0);
		return;
	case ZSTD_STREAM:
		from = (long)object;
		row_effect = take_zstd;
		answer(done ? 0 : -20);
		counted(done, BYTES, 0);
		return;
	case LZ4:
		answer(done ? 100 : -20);
		counted(done, (uint64_t)size, 0);
		return;
	case LZ4F:
		AT(size_t, 0) = BYTES;
		size = (long)object;
		answer(done ? 0 : -20);
		counted(done, BYTES, 0);
		return;
	case READ:
		answer(done ? BYTES : -1);
		counted(done, done ? BYTES : 0, 0);
		return;
	case WAIT:
		answer(done ? 0 : -5);
		counted(done, 0, 0);
		return;
	case AIO_SUBMIT: /* one read; of none that was taken there is nothing to say */
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
	case CUDA_LAUNCH:
	case CUDA_GRAPH:
	case CUDA_STREAM:
	case CUDA_EVENT:
	case CUDA_DEVICE:
	case CUDA_COPY:
	case CUDA_COPY_2D:
	case TF_MADE:
	case TF_ASKED:
	case TF_WAITED:
	case TF_FETCHED: /* no decoders; that they are reached is what is seen here */
		answer(0);
		expected = (struct told){.nothing = true};
	}
}

/* What follows the row's own call. */
static void conclude(enum family family)
{
	if (family == JPEG_HEADER || family == JPEG_START || family == JPEG_ROW) {
		answer(1);
		if (family == JPEG_HEADER)
			jpeg_start_decompress(object);
		jpeg_finish_decompress(object);
	}
}

static struct dlprof_tally *tally_of(const char *name, const char *kind, uint64_t class)
{
	for (int i = 0; i < DLPROF_TALLY_NAMED_COUNT; i++) {
		struct dlprof_tally *tally = &slot->tallies[i];

		if (tally->kind == DLPROF_TALLY_DECODE && tally->class == class &&
		    strcmp(tally->name, name) == 0 && strcmp(tally->detail, kind) == 0)
			return tally;
	}
	return NULL;
}

/* Of all tallies of decoders. */
static struct dlprof_tally sum_of(void)
{
	struct dlprof_tally sum = {0};

	for (int i = 0; i < DLPROF_TALLY_NAMED_COUNT; i++) {
		const struct dlprof_tally *tally = &slot->tallies[i];

		if (tally->kind != DLPROF_TALLY_DECODE)
			continue;
		sum.count += tally->count;
		sum.bytes += tally->bytes;
		sum.pixels += tally->pixels;
		sum.ns += tally->ns;
	}
	return sum;
}

static void try(enum decode_row_id row, const char *name, enum decode_library_id library,
		enum family family, void (*hit)(void), bool done)
{
	const bool is_input = libraries[library].sort == DECODE_SORT_INPUT;
	struct dlprof_counter *counter =
		&slot->counters[is_input ? DLPROF_CLASS_READ : DLPROF_CLASS_DECODE];
	struct dlprof_counter before = *counter;
	struct dlprof_tally all = sum_of(), sum, *tally;
	uint32_t calls_before;

	object = calloc(1, 1024);
	tell(family, library, done);
	calls_before = row_calls[row];
	hit();
	check(done, name, "calls that reached the library", row_calls[row] - calls_before, 1);
	conclude(family);
	row_effect = NULL;
	check(done, name, "count", counter->count - before.count, expected.count);
	check(done, name, "failed", counter->failed_count - before.failed_count,
	      expected.failed_count);
	check(done, name, "bytes", counter->bytes - before.bytes, expected.bytes);
	if ((counter->ns == before.ns) != expected.nothing)
		fail(done, name, "ns", counter->ns - before.ns, !expected.nothing);
	sum = sum_of();
	if (is_input || expected.nothing ||
	    (expected.unknown && libraries[library].sort == DECODE_SORT_IMAGE)) {
		check(done, name, "ns of unknown images", sum.ns - all.ns, 0);
		return;
	}
	tally = tally_of(libraries[library].name,
			 expected.format ? expected.format : libraries[library].format,
			 expected.width ? 512 : 0);
	if (!tally) {
		fail(done, name, "tally of its library, format and width", 0, 1);
		return;
	}
	check(done, name, "tallied", sum.count - all.count, expected.count);
	check(done, name, "bytes tallied", sum.bytes - all.bytes, expected.bytes);
	check(done, name, "pixels", sum.pixels - all.pixels,
	      expected.width ? expected.count * ROW_WIDTH * ROW_HEIGHT : 0);
	check(done, name, "ns of another tally", sum.ns - all.ns > 0 && tally->ns > 0, true);
	/* The image's own: nothing went to another one. */
	tally->count -= sum.count - all.count;
	check(done, name, "in its tally", sum_of().count, all.count);
	tally->count += sum.count - all.count;
}

#define STRIP(...) __VA_ARGS__
#define DECODE(library, family, type, name, params, args)                                          \
	static void hit_##name(void)                                                               \
	{                                                                                          \
		type result = name args;                                                           \
                                                                                                   \
		if (memcmp(&result, row_answer, sizeof(result)) != 0)                              \
			fail(true, #name, "its answer", 0, row_answer[0]);                         \
	}
#define DECODE_VOID(library, family, name, params, args)                                           \
	static void hit_##name(void)                                                               \
	{                                                                                          \
		name args;                                                                         \
	}
#include "decode/decode.def"
#undef DECODE
#undef DECODE_VOID

/* The shim has it mapped. */
static struct dlprof_slot *find_slot(void)
{
	struct dlprof_segment *segment = NULL;
	FILE *maps = fopen("/proc/self/maps", "r");
	char text[1024];

	while (maps && !segment && fgets(text, sizeof(text), maps))
		if (strstr(text, " rw-s ") && (strstr(text, DLPROF_SEGMENT_SUFFIX "\n") ||
					       strstr(text, DLPROF_SEGMENT_UNFINISHED)))
			segment = (struct dlprof_segment *)strtoul(text, NULL, 16);
	if (maps)
		fclose(maps);
	return segment && segment->header.tids[0] ? &segment->slots[0] : NULL;
}

int main(void)
{
	slot = find_slot();
	if (!slot) {
		printf("no segment: not recorded\n");
		return 1;
	}
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (libraries[i].mark && !dlsym(RTLD_DEFAULT, libraries[i].mark))
			fail(true, libraries[i].name, "its mark in every_row_library.c", 0, 1);
#define DECODE(library, family, type, name, params, args)                                          \
	try(DECODE_ROW_##name, #name, DECODE_##library, family, hit_##name, true);                 \
	try(DECODE_ROW_##name, #name, DECODE_##library, family, hit_##name, false);
#define DECODE_VOID(library, family, name, params, args) DECODE(library, family, , name, , )
#include "decode/decode.def"
	printf("%d rows, %d failures\n", DECODE_ROW_MAX, failures);
	return failures != 0;
}

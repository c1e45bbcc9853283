/* SPDX-License-Identifier: Apache-2.0 */
/* caller.c - what Pillow's decoder is: a row from libjpeg, and its own work on it, in turn. */
#include "jpeg.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define GAP_NS     5000
#define REST_BYTES 3 /* of a row that is suspended */

uint64_t image_ns; /* from start to finish or destroy, without reads */

static unsigned int row_count, pause_count; /* of the last image */
static uint64_t started_ns, started_read_ns;

static struct info info, kept, lost; /* each at one address for all images */
static struct source source, kept_source;
static const char bytes[1 << 16];
static char whole[IMAGE_BYTES];
static bool is_ready;
static jmp_buf errors;

static void begin(struct info *image, struct source *from, unsigned int width, unsigned int height,
		  size_t ready_bytes)
{
	memset(image, 0, sizeof(*image));
	image->errors = &errors;
	image->source = from;
	image->width = width;
	image->height = height;
	image->last_row = UINT32_MAX;
	from->next = whole;
	from->left = ready_bytes;
	jpeg_read_header(image, 1);
	jpeg_start_decompress(image);
}

static void ended(void)
{
	image_ns += now_ns() - started_ns - (read_ns - started_read_ns);
}

void image_begin(unsigned int width, unsigned int height, unsigned int last_row,
		 size_t ready_bytes)
{
	row_count = pause_count = 0;
	is_ready = ready_bytes;
	memcpy(whole + sizeof(whole) - 2, "\xff\xd9", 2);
	begin(&info, &source, width, height, ready_bytes);
	info.last_row = last_row;
	started_ns = now_ns();
	started_read_ns = read_ns;
}

/* With data for so many rows, if it has not all. 1: the end, 0: it wants more, -1: it is broken. */
int image_feed(unsigned int count, unsigned int skip_at)
{
	if (!is_ready) {
		source.next = bytes;
		source.left = count * ROW_BYTES + REST_BYTES;
	}
	if (setjmp(errors))
		return -1;
	while (info.row < info.height) {
		if (info.row == skip_at) {
			jpeg_skip_scanlines(&info, 10);
		} else if (jpeg_read_scanlines(&info, NULL, 1) != 1) {
			pause_count++;
			return 0;
		} else {
			spin(GAP_NS);
			row_count++;
		}
	}
	if (jpeg_finish_decompress(&info) != 1)
		return -1;
	ended();
	return 1;
}

void image_destroy(void)
{
	jpeg_destroy_decompress(&info);
	row_count++; /* the one that jumped out took its bytes */
	ended();
}

/* Ends the image that was begun by the last such call, and begins one. */
void image_keep(unsigned int width, unsigned int height)
{
	if (kept.width)
		jpeg_finish_decompress(&kept);
	/* A source that Pillow does not know, and that has not the bytes that it promises. */
	begin(&kept, &kept_source, width, height, SIZE_MAX / 2);
}

static void lose_source(struct info *image)
{
	munmap(image->source, sizeof(*image->source));
}

/* An image whose source is unmapped when it is finished, or before it is destroyed unfinished. */
void image_lose(int is_finished)
{
	struct source *from = mmap(NULL, sizeof(*from), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin(&lost, from, 0, 0, sizeof(whole));
	jpeg_read_scanlines(&lost, NULL, 1);
	jpeg_read_scanlines(&lost, NULL, 1);
	if (is_finished) {
		lost.end = lose_source;
		jpeg_finish_decompress(&lost);
	} else {
		lose_source(&lost);
	}
	jpeg_destroy_decompress(&lost);
}

/* What the rows took, and those that were suspended. */
unsigned int image_bytes(void)
{
	return row_count * ROW_BYTES + pause_count * REST_BYTES;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rows_caller.c - what Pillow's decoder is: a row from libjpeg, and its own work on it, in turn. */
#include "rows_jpeg.h"

#include <string.h>

#define GAP_NS     5000
#define REST_BYTES 3 /* of a row that is suspended */

uint64_t gaps_ns;

static unsigned int row_count, pause_count; /* of the last image */

static struct info info; /* at one address for all images */
static struct source source;
static const char bytes[1 << 16];
static jmp_buf errors;

void image_begin(unsigned int width, unsigned int height, unsigned int last_row)
{
	memset(&info, 0, sizeof(info));
	info.errors = &errors;
	info.source = &source;
	info.width = width;
	info.height = height;
	info.last_row = last_row;
	source.left = 0;
	row_count = pause_count = 0;
	jpeg_read_header(&info, 1);
	jpeg_start_decompress(&info);
}

/* With data for so many rows; 1: that was all, 0: it wants more, -1: it is broken. */
int image_feed(unsigned int count, unsigned int skip_at)
{
	source.next = bytes;
	source.left = count * ROW_BYTES + REST_BYTES;
	if (setjmp(errors))
		return -1;
	while (info.row < info.height) {
		if (info.row == skip_at)
			jpeg_skip_scanlines(&info, 10);
		else if (jpeg_read_scanlines(&info, NULL, 1) != 1)
			return pause_count++, 0;
		else
			gaps_ns += spin(GAP_NS), row_count++;
	}
	return jpeg_finish_decompress(&info);
}

/* That went to their end, and were not skipped. */
unsigned int image_rows(void)
{
	return row_count;
}

/* What these took, and rows that were suspended. */
unsigned int image_bytes(void)
{
	return row_count * ROW_BYTES + pause_count * REST_BYTES;
}

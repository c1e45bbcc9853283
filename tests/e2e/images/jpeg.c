/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jpeg.c - a libjpeg that only takes time: ROW_NS and ROW_BYTES of its source for each row; without
 * so many left it takes what there is and is suspended. Every 40th row reads the file `row_file`,
 * too.
 */
#include "jpeg.h"

#include <setjmp.h>
#include <unistd.h>

#define ROW_NS 10000

int row_file = -1;
uint64_t read_ns;

static char block[1 << 20];

/* What libjpeg is known by. */
int jpeg_CreateDecompress(struct info *info)
{
	return !!info;
}

int jpeg_read_header(struct info *info, int require)
{
	(void)require;
	info->row = 0;
	return 1;
}

int jpeg_start_decompress(struct info *info)
{
	return !!info;
}

static int read_file(void)
{
	uint64_t begin = now_ns();
	ssize_t size = pread(row_file, block, sizeof(block), 0);

	read_ns += now_ns() - begin;
	return size > 0;
}

unsigned int jpeg_read_scanlines(struct info *info, void *lines, unsigned int count)
{
	(void)lines;
	(void)count;
	if (info->source->left < ROW_BYTES) {
		info->source->next += info->source->left;
		info->source->left = 0;
		return 0;
	}
	spin(ROW_NS);
	info->source->next += ROW_BYTES;
	info->source->left -= ROW_BYTES;
	if (row_file >= 0 && info->row % 40 == 39 && !read_file())
		return 0;
	if (info->row == info->last_row)
		longjmp(*info->errors, 1);
	info->row++;
	return 1;
}

unsigned int jpeg_skip_scanlines(struct info *info, unsigned int count)
{
	info->row += count;
	return count;
}

int jpeg_finish_decompress(struct info *info)
{
	if (info->end)
		info->end(info);
	return 1;
}

void jpeg_destroy_decompress(struct info *info)
{
	info->row = 0;
}

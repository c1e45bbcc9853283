/* SPDX-License-Identifier: Apache-2.0 */
/* fake.h - the head of libjpeg's decompression struct, and functions of the fake libjpeg. */
#pragma once

#include <setjmp.h>

struct fake {
	jmp_buf *back;		/* at the place of libjpeg's error manager */
	void *unused[4];
	void *source;
	unsigned int width;
	unsigned int height;
	char rest[600];
};

int jpeg_CreateDecompress(struct fake *info);
int jpeg_read_header(struct fake *info, int require);
int jpeg_start_decompress(struct fake *info);
unsigned int jpeg_read_scanlines(struct fake *info, void *lines, unsigned int count);
int jpeg_finish_decompress(struct fake *info);
int fake_copy(void);

int run(unsigned int width);
unsigned int tail(struct fake *info, void *lines, unsigned int count);

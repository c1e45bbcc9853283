/* SPDX-License-Identifier: Apache-2.0 */
/* jpeg.h - the head of libjpeg's decompression struct, as far as dlprof looks, and a clock. */
#pragma once

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define ROW_BYTES   7
#define IMAGE_BYTES 840

struct source {
	const char *next;
	size_t left;
};

struct info {
	jmp_buf *errors;
	void *unused[4];
	struct source *source;
	unsigned int width;
	unsigned int height;
	char rest[600];
	unsigned int row;
	unsigned int last_row; /* jumps out there */
	void (*end)(struct info *info); /* of its source; NULL: nothing to do */
};

extern uint64_t read_ns; /* what reads took */

int jpeg_CreateDecompress(struct info *info);
int jpeg_read_header(struct info *info, int require);
int jpeg_start_decompress(struct info *info);
unsigned int jpeg_read_scanlines(struct info *info, void *lines, unsigned int count);
unsigned int jpeg_skip_scanlines(struct info *info, unsigned int count);
int jpeg_finish_decompress(struct info *info);
void jpeg_destroy_decompress(struct info *info);

/* caller.c */
void image_begin(unsigned int width, unsigned int height, unsigned int last_row,
		 size_t ready_bytes);
int image_feed(unsigned int count, unsigned int skip_at);
void image_destroy(void);
void image_keep(unsigned int width, unsigned int height);
void image_lose(int is_finished);
unsigned int image_bytes(void);

static inline uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline void spin(uint64_t ns)
{
	uint64_t begin = now_ns();

	while (now_ns() - begin < ns)
		;
}

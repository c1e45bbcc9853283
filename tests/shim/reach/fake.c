/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.c - a libjpeg that decodes nothing. COPY tells which copy of it was called. Width 0 is a
 * corrupt image, which it leaves by longjmp(), as libjpeg does.
 */
#include "fake.h"

#include <errno.h>

#ifdef HIDDEN
#pragma GCC visibility push(hidden)
#endif

#ifndef IMPOSTOR
int jpeg_CreateDecompress(struct fake *info)
{
	return !!info;
}
#endif

int jpeg_read_header(struct fake *info, int require)
{
	(void)require;
	if (!info->width && info->back)
		longjmp(*info->back, 1);
	return 1;
}

int jpeg_start_decompress(struct fake *info)
{
	return !!info;
}

unsigned int jpeg_read_scanlines(struct fake *info, void *lines, unsigned int count)
{
	(void)info;
	(void)lines;
	errno = COPY;
	return COPY + count;
}

int jpeg_finish_decompress(struct fake *info)
{
	return !!info;
}

/* As much code as a decoder has at least: the drain searches no smaller modules for decoders. */
__asm__(".pushsection .text\n\t.skip 40000\n\t.popsection");

/* A function that dlprof does not wrap. */
int fake_copy(void)
{
	return COPY;
}

#ifdef HIDDEN
#pragma GCC visibility pop
#endif

/* Has a text by which the drain knows a copy of libjpeg without symbols. */
const char *fake_notice(void);
const char *fake_notice(void)
{
	return "Corrupt JPEG data: premature end of data segment";
}

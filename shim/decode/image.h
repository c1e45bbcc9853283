/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - tell format and size of an encoded image by its first bytes. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct image {
	const char *format;	/* NULL: the format is not known here */
	uint32_t width;		/* 0: the width is not known */
	uint32_t height;
};

struct image image_sniff(const void *data, size_t size);

/* Tells an image by the end of its file's name; only `format` is set. */
struct image image_of_path(const char *path);

/* The format as dlprof spells it everywhere; Pillow, for one, says WEBP. */
const char *image_spelling(const char *format);

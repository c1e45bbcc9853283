/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - finds format and size of an encoded image in its first bytes. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct image {
	const char *format;	/* name of the format; NULL: unknown */
	uint32_t width;		/* 0: the width is not known */
	uint32_t height;
};

struct image image_sniff(const void *data, size_t size);

/* Finds an image's format by its file name's suffix; sets only `format`. */
struct image image_of_path(const char *path);

/* Returns a format's name as dlprof spells it: Pillow, for example, says WEBP. */
const char *image_spelling(const char *format);

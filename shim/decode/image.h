/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - format and size of an encoded image, from its first bytes. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct image {
	const char *format;	/* NULL: none of those known here */
	uint32_t width;		/* 0: not known */
	uint32_t height;
};

struct image image_sniff(const void *data, size_t size);

/* By the end of a file's name; only `format` is set. */
struct image image_of_path(const char *path);

/* As it is written everywhere in dlprof; Pillow says WEBP. */
const char *image_spelling(const char *format);

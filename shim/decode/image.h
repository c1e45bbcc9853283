/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - finds format and size of an encoded image in its first bytes. No side effects. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct image {
	const char *format;
	uint32_t width;		/* 0: unknown */
	uint32_t height;
};

struct image image_sniff(const void *data, size_t size);

/* Returns the format by the file name's suffix, or NULL. */
const char *image_of_path(const char *path);

/* Returns a format's name as dlprof spells it: "WebP" for Pillow's "WEBP". */
const char *image_spelling(const char *format);

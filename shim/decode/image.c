/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/image.h"

#include <string.h>
#include <strings.h>

#include "base/sys.h"

static uint32_t big16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t big32(const uint8_t *at)
{
	return big16(at) << 16 | big16(at + 2);
}

static uint32_t little24(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* Looks for a frame header: a marker SOF0..SOF15, except DHT, JPG and DAC. */
static void sniff_jpeg(struct image *image, const uint8_t *data, size_t size)
{
	size_t at = 2;

	image->format = "JPEG";
	while (at + 9 <= size && data[at] == 0xff) {
		uint8_t marker = data[at + 1];
		size_t length;

		if (marker == 0xff) {
			at++;
			continue;
		}
		if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
		    marker != 0xcc) {
			image->height = big16(data + at + 5);
			image->width = big16(data + at + 7);
			return;
		}
		length = big16(data + at + 2);
		if (length < 2 || marker == 0xda)
			return;
		at += 2 + length;
	}
}

static void sniff_webp(struct image *image, const uint8_t *data, size_t size)
{
	const uint8_t *chunk = data + 12;

	image->format = "WebP";
	if (size < 30)
		return;
	if (memcmp(chunk, "VP8X", 4) == 0) {
		image->width = little24(chunk + 12) + 1;
		image->height = little24(chunk + 15) + 1;
	} else if (memcmp(chunk, "VP8L", 4) == 0 && chunk[8] == 0x2f) {
		image->width = (little24(chunk + 9) & 0x3fff) + 1;
		image->height = (little24(chunk + 10) >> 6 & 0x3fff) + 1;
	} else if (memcmp(chunk, "VP8 ", 4) == 0) {
		image->width = little24(chunk + 14) & 0x3fff;
		image->height = (chunk[16] | (uint32_t)chunk[17] << 8) & 0x3fff;
	}
}

struct image image_sniff(const void *bytes, size_t size)
{
	struct image image = {0};
	const uint8_t *data = bytes;

	if (!data || size < 16)
		return image;
	if (data[0] == 0xff && data[1] == 0xd8) {
		sniff_jpeg(&image, data, size);
	} else if (memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0) {
		image.format = "PNG";
		if (size >= 24) {
			image.width = big32(data + 16);
			image.height = big32(data + 20);
		}
	} else if (memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0) {
		sniff_webp(&image, data, size);
	} else if (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0) {
		image.format = "TIFF";
	} else if (memcmp(data, "BM", 2) == 0) {
		image.format = "BMP";
	} else if (memcmp(data, "GIF8", 4) == 0) {
		image.format = "GIF";
	}
	return image;
}

static const char *const endings[][2] = {
	{".jpg", "JPEG"}, {".jpeg", "JPEG"}, {".png", "PNG"}, {".webp", "WebP"},
	{".tif", "TIFF"}, {".tiff", "TIFF"}, {".bmp", "BMP"}, {".gif", "GIF"},
};

const char *image_of_path(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(dot, endings[i][0]) == 0)
			return endings[i][1];
	return NULL;
}

OFTEN const char *image_spelling(const char *format)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(format, endings[i][1]) == 0)
			return endings[i][1];
	return format;
}

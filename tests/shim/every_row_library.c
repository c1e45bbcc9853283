/* SPDX-License-Identifier: Apache-2.0 */
#include "every_row.h"

#include <stdarg.h>
#include <string.h>

uint64_t row_answer[2];
void (*row_effect)(void);
uint32_t row_calls[ROW_MAX];

static void called(enum row row)
{
	row_calls[row]++;
	for (volatile int i = 0; i < 1000; i++) /* long enough for any clock to measure */
		;
	if (row_effect)
		row_effect();
}

#define STRIP(...) __VA_ARGS__
#define WRAP(library, family, type, name, params, args)                                            \
	type name params                                                                           \
	{                                                                                          \
		type result;                                                                       \
                                                                                                   \
		called(ROW_##name);                                                                \
		memcpy(&result, row_answer, sizeof(result));                                       \
		return result;                                                                     \
	}
#define WRAP_VOID(library, family, name, params, args)                                             \
	void name params                                                                           \
	{                                                                                          \
		called(ROW_##name);                                                                \
	}
#include "every_row.def"
#undef WRAP
#undef WRAP_VOID

/* Exports that tell the shim which library this is. every_row.c fails if one is missing here. */
#define MARK(name)                                                                                 \
	ROW_EXPORT void name(void)                                                                 \
	{                                                                                          \
	}
MARK(jpeg_CreateDecompress)
MARK(tjInitDecompress)
MARK(png_create_read_struct)
MARK(WebPGetDecoderVersion)
MARK(TIFFClientOpen)
MARK(opj_version)
MARK(JxlDecoderVersion)
MARK(heif_get_version)
MARK(charls_get_version_string)
MARK(nvjpegGetProperty)
MARK(avcodec_version)
MARK(avformat_version)
MARK(swscale_version)
MARK(swresample_version)
MARK(sf_strerror)
MARK(zlibVersion)
MARK(libdeflate_alloc_decompressor)
MARK(ZSTD_isError)
MARK(LZ4_versionNumber)
MARK(BZ2_bzlibVersion)
MARK(lzma_version_string)
MARK(cuFileDriverOpen)
MARK(io_uring_queue_init)
MARK(io_setup)

/* Functions that the shim asks for an image's size. */
ROW_EXPORT uint32_t png_get_image_width(void *png, void *info)
{
	return png && info ? ROW_WIDTH : 0;
}

ROW_EXPORT uint32_t png_get_image_height(void *png, void *info)
{
	return png && info ? ROW_HEIGHT : 0;
}

ROW_EXPORT int heif_image_handle_get_width(void *handle)
{
	return handle ? ROW_WIDTH : 0;
}

ROW_EXPORT int heif_image_handle_get_height(void *handle)
{
	return handle ? ROW_HEIGHT : 0;
}

ROW_EXPORT int TIFFGetField(void *tiff, uint32_t tag, ...)
{
	va_list values;

	va_start(values, tag);
	*va_arg(values, uint32_t *) = tag == 256 ? ROW_WIDTH : ROW_HEIGHT;
	va_end(values);
	return tiff && (tag == 256 || tag == 257);
}

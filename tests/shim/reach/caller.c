/* SPDX-License-Identifier: Apache-2.0 */
/* caller.c - an extension module that decodes one image, `width` wide and 10 high, by the libjpeg
 * that it finds. */
#include "fake.h"

#include <errno.h>

#ifdef TABLE
/* Calls libjpeg by a table of function pointers, as programs do that choose a decoder by format. */
static struct {
	int (*header)(struct fake *info, int require);
	int (*start)(struct fake *info);
	unsigned int (*lines)(struct fake *info, void *lines, unsigned int count);
	int (*finish)(struct fake *info);
} volatile table = {jpeg_read_header, jpeg_start_decompress, jpeg_read_scanlines,
		    jpeg_finish_decompress};
#define jpeg_read_header      table.header
#define jpeg_start_decompress table.start
#define jpeg_read_scanlines   table.lines
#define jpeg_finish_decompress table.finish
#endif

int run(unsigned int width)
{
	struct fake info = {.width = width, .height = 10};
	jmp_buf back;
	int copy;

	info.back = &back;
	if (setjmp(back))
		return -1;
	if (jpeg_read_header(&info, 1) != 1 || !jpeg_start_decompress(&info))
		return -2;
	errno = 0;
	copy = (int)jpeg_read_scanlines(&info, 0, 1);
	if (errno != copy - 1)
		return -3;
	return jpeg_finish_decompress(&info) ? copy : -4;
}

/* Jumps to the library, and does not call it: the return address there is in tail()'s caller. */
unsigned int tail(struct fake *info, void *lines, unsigned int count)
{
	return jpeg_read_scanlines(info, lines, count);
}

#ifdef NESTED
/* A constructor that, while ld.so loads this module, loads another one and calls dlsym(). */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((constructor)) static void begin(void)
{
	void *handle = dlopen(NESTED, RTLD_NOW | RTLD_LOCAL);
	int (*other)(unsigned int) = handle ? (int (*)(unsigned int))dlsym(handle, "run") : 0;

	printf("constructor: %d %d\n", other ? other(100) : -9, run(100));
}
#endif

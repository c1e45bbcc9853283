/* SPDX-License-Identifier: Apache-2.0 */
/* caller.c - an extension module: one image, `width` wide and 10 high, through whatever libjpeg it
 * has. */
#include "fake.h"

#include <errno.h>

#ifdef TABLE
/* Through a table of function pointers, as decoders are chosen by format. */
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

/* A jump, not a call: the return address in the library is of whoever called this. */
unsigned int tail(struct fake *info, void *lines, unsigned int count)
{
	return jpeg_read_scanlines(info, lines, count);
}

#ifdef NESTED
/* While ld.so loads this module, its constructor loads another and looks things up. */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((constructor)) static void begin(void)
{
	void *handle = dlopen(NESTED, RTLD_NOW | RTLD_LOCAL);
	int (*other)(unsigned int) = handle ? (int (*)(unsigned int))dlsym(handle, "run") : 0;

	printf("constructor: %d %d\n", other ? other(100) : -9, run(100));
}
#endif

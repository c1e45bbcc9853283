/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - a module that calls cuFile. */
#include <stddef.h>
#include <sys/types.h>

ssize_t cuFileRead(void *file, void *device, size_t size, off_t offset, off_t device_offset);
long file(void);

long file(void)
{
	return cuFileRead(NULL, NULL, 4000, 90, 6);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.c - functions of CUDA; dlprof replaces only cuFileRead in what dlsym() returns. */
#include <stddef.h>
#include <sys/types.h>

int cuFileDriverOpen(void);
ssize_t cuFileRead(void *file, void *device, size_t size, off_t offset, off_t device_offset);
int nvmlInit_v2(void);
int cudnnCreate(void **handle);

int cuFileDriverOpen(void)
{
	return 0;
}

ssize_t cuFileRead(void *file, void *device, size_t size, off_t offset, off_t device_offset)
{
	(void)file;
	(void)device;
	return (ssize_t)size + offset + device_offset;
}

int nvmlInit_v2(void)
{
	return 7;
}

int cudnnCreate(void **handle)
{
	return handle ? 1 : 2;
}

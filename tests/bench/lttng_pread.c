/* SPDX-License-Identifier: Apache-2.0 */
/* lttng_pread.c - a preload with an LTTng-UST tracepoint after each pread(), as one would write it.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_pread.h"

#include <dlfcn.h>
#include <sys/types.h>

static ssize_t (*real)(int, void *, size_t, off_t);

__attribute__((constructor)) static void find(void)
{
	real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *buffer, size_t size,
							off_t offset)
{
	ssize_t result = real(fd, buffer, size, offset);

	lttng_ust_tracepoint(bench, pread, fd, (long)result);
	return result;
}

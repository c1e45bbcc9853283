/* SPDX-License-Identifier: Apache-2.0 */
/* floor.c - a preload that reads the CPU's counter around pread() and does nothing else: the floor.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <sys/types.h>

static ssize_t (*real)(int, void *, size_t, off_t);
static __thread uint64_t sum __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void find(void)
{
	real = (ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");
}

static uint64_t counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *buffer, size_t size,
							off_t offset)
{
	uint64_t begin = counter();
	ssize_t result = real(fd, buffer, size, offset);

	sum += counter() - begin;
	return result;
}

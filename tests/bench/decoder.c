/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoder.c - nanoseconds of one row of an image whose decoder does nothing, and of one dlsym():
 * what a wrapper adds to.
 *
 * usage: decoder LIBRARY, with run() of tests/shim/reach/caller.c and the library below it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 200
#define CALLS  2000

struct fake {
	void *unused[5];
	const void **source;
	uint32_t width, height;
	char rest[600];
};

typedef unsigned int (*lines_function)(struct fake *info, void *lines, unsigned int count);

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static double round_of(int what, void *handle, lines_function lines, struct fake *info)
{
	uint64_t begin = now_ns(), sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += what ? (uintptr_t)dlsym(handle, what == 1 ? "tail" : "jpeg_read_header")
			    : lines(info, NULL, 1);
	if (sum == 1)
		printf("never\n");
	return (double)(now_ns() - begin) / CALLS;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"row of an image", "dlsym of anything",
					    "dlsym of a decoder"};
	void *handle = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	lines_function lines = handle ? (lines_function)dlsym(handle, "tail") : NULL;
	int (*header)(struct fake *, int) =
		handle ? (int (*)(struct fake *, int))dlsym(handle, "jpeg_read_header") : NULL;
	int (*start)(struct fake *) =
		handle ? (int (*)(struct fake *))dlsym(handle, "jpeg_start_decompress") : NULL;
	const void *source[2] = {names, NULL}; /* from there on nothing */
	struct fake info = {.source = source, .width = 100, .height = 100};

	if (!lines || !header || !start || header(&info, 1) != 1 || !start(&info))
		return 1;
	for (int what = 0; what < 3; what++) {
		double least = 1e9;

		for (int i = 0; i < ROUNDS; i++) {
			double ns = round_of(what, handle, lines, &info);

			least = ns < least ? ns : least;
		}
		printf("%s: %.1f\n", names[what], least);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* percall.c - nanoseconds of one small call, the least of many rounds: what a wrapper adds to. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 200
#define CALLS 2000

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* From its begin again where it ends: one call in some hundred is an lseek(). */
static ssize_t read_on(int fd, char *bytes, size_t size)
{
	ssize_t got = read(fd, bytes, size);

	if (got < (ssize_t)size)
		lseek(fd, 0, SEEK_SET);
	return got;
}

static double round_of(int what, int fd, FILE *file)
{
	uint64_t begin = now_ns();
	char bytes[64];
	ssize_t sum = 0;

	for (int i = 0; i < CALLS; i++) {
		if (what == 0)
			sum += pread(fd, bytes, sizeof(bytes), 0);
		else if (what == 1)
			sum += read_on(fd, bytes, sizeof(bytes));
		else if (what == 2)
			sum += read(-1, bytes, sizeof(bytes));
		else
			sum += (ssize_t)fread(bytes, 1, 1, file) + fseek(file, 0, SEEK_SET);
	}
	if (sum == 1)
		printf("never\n");
	return (double)(now_ns() - begin) / CALLS;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"pread 64 bytes", "read 64 bytes",
					    "read of a bad descriptor", "fread and fseek"};
	int fd = open(argv[0], O_RDONLY);
	FILE *file = fopen(argv[0], "r");

	if (argc > 2 || fd < 0 || !file)
		return 1;
	for (int what = 0; what < 4; what++) {
		double least = 1e9;

		for (int i = 0; i < ROUNDS; i++) {
			double ns = round_of(what, fd, file);

			least = ns < least ? ns : least;
		}
		printf("%s: %.1f\n", names[what], least);
	}
	return 0;
}

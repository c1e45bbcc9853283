/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - the work that profilers are compared on, with nothing else in the process.
 *
 * usage: work pread FILE CALLS THREADS    4 KiB at scattered places of a file
 *        work files LIST                  open, fstat, read, close of each file that LIST names
 *        work jpeg LIST                   decode each through stdio and libjpeg
 * Prints: operations, nanoseconds in the loop, nanoseconds of CPU time in it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_JPEG
#include <jpeglib.h>
#endif

#define BLOCK	    4096
#define THREAD_MAX  16
#define FILE_MAX    (1 << 20)

static int data_fd;
static uint64_t block_count;
static long calls_each;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *pread_blocks(void *seed)
{
	uint64_t state = (uintptr_t)seed + 1;
	char block[BLOCK];

	for (long i = 0; i < calls_each; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		if (pread(data_fd, block, BLOCK, (off_t)((state >> 33) % block_count * BLOCK)) !=
		    BLOCK)
			abort();
	}
	return NULL;
}

static long run_pread(char **arguments)
{
	long threads = atol(arguments[2]);
	pthread_t others[THREAD_MAX];
	struct stat status;

	data_fd = open(arguments[0], O_RDONLY);
	if (data_fd < 0 || fstat(data_fd, &status) || threads < 1 || threads > THREAD_MAX)
		return -1;
	block_count = (uint64_t)status.st_size / BLOCK;
	calls_each = atol(arguments[1]) / threads;
	for (long i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, pread_blocks, (void *)i))
			return -1;
	pread_blocks(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return calls_each * threads;
}

static long read_file(const char *path)
{
	static char bytes[FILE_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	ssize_t size;

	if (fd < 0 || fstat(fd, &status) || status.st_size > FILE_MAX)
		return -1;
	size = read(fd, bytes, (size_t)status.st_size);
	close(fd);
	return size == status.st_size ? 1 : -1;
}

static long decode_file(const char *path)
{
#ifdef WITH_JPEG
	struct jpeg_decompress_struct image;
	struct jpeg_error_mgr errors;
	static JSAMPLE line[3 * 8192];
	JSAMPROW row = line;
	FILE *file = fopen(path, "rb");

	if (!file)
		return -1;
	image.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&image);
	jpeg_stdio_src(&image, file);
	jpeg_read_header(&image, TRUE);
	jpeg_start_decompress(&image);
	while (image.output_scanline < image.output_height)
		jpeg_read_scanlines(&image, &row, 1);
	jpeg_finish_decompress(&image);
	jpeg_destroy_decompress(&image);
	fclose(file);
	return 1;
#else
	return -1;
#endif
}

static char **read_list(const char *path, long *count)
{
	char **paths = NULL, line[4096];
	FILE *file = fopen(path, "r");

	for (*count = 0; file && fgets(line, sizeof(line), file); ++*count) {
		line[strcspn(line, "\n")] = '\0';
		paths = realloc(paths, (size_t)(*count + 1) * sizeof(*paths));
		paths[*count] = strdup(line);
	}
	if (file)
		fclose(file);
	return paths;
}

int main(int argc, char **argv)
{
	uint64_t cpu_begin = now_ns(CLOCK_PROCESS_CPUTIME_ID), begin = now_ns(CLOCK_MONOTONIC);
	long (*one)(const char *) = NULL, done = 0, count;
	char **paths;

	if (argc == 5 && strcmp(argv[1], "pread") == 0) {
		done = run_pread(argv + 2);
	} else if (argc == 3) {
		one = strcmp(argv[1], "jpeg") == 0 ? decode_file : read_file;
		paths = read_list(argv[2], &count);
		cpu_begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
		begin = now_ns(CLOCK_MONOTONIC);
		for (long i = 0; i < count; i++) {
			if (one(paths[i]) < 0)
				return 1;
			done++;
		}
	}
	if (done < 1)
		return 1;
	printf("%ld %llu %llu\n", done, (unsigned long long)(now_ns(CLOCK_MONOTONIC) - begin),
	       (unsigned long long)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin));
	return 0;
}

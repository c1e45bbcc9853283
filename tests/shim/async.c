/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.c - loads that read the file "data" past libc: by libaio (WITH_AIO) or io_uring
 * (WITH_URING).
 *
 * usage: async. Two loads read the whole file, several blocks at a time; one writes as many bytes,
 * and one waits in vain. Prints sums of the bytes read. Status 77: the kernel refuses these calls.
 */
#include <dlprof.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH	    8
#define BLOCK_BYTES 16384

static char blocks[DEPTH][BLOCK_BYTES];

static unsigned long sum_of(unsigned long sum, const char *bytes, long size)
{
	for (long i = 0; i < size; i++)
		sum = sum * 31 + (unsigned char)bytes[i];
	return sum;
}

static void give_up(const char *what, int error)
{
	printf("%s: %s\n", what, strerror(error));
	exit(77);
}

#ifdef WITH_AIO
#include <libaio.h>

static io_context_t context;

static void begin(void)
{
	int r = io_setup(DEPTH, &context);

	if (r < 0)
		give_up("io_setup", -r);
}

/* Reads or writes DEPTH blocks from `offset` on at once. sizes: the bytes that each block got. */
static void round_of(int fd, int writes, off_t offset, long sizes[DEPTH])
{
	struct iocb requests[DEPTH], *list[DEPTH];
	struct io_event events[DEPTH];
	int count = 0;

	for (int i = 0; i < DEPTH; i++) {
		off_t at = offset + (off_t)i * BLOCK_BYTES;

		if (writes)
			io_prep_pwrite(&requests[i], fd, blocks[i], BLOCK_BYTES, at);
		else
			io_prep_pread(&requests[i], fd, blocks[i], BLOCK_BYTES, at);
		list[i] = &requests[i];
	}
	if (io_submit(context, DEPTH, list) != DEPTH)
		exit(1);
	while (count < DEPTH) {
		int got = io_getevents(context, 1, DEPTH, events, NULL);

		for (int i = 0; i < got; i++)
			sizes[events[i].obj - requests] = (long)events[i].res;
		count += got > 0 ? got : 0;
	}
}

static int wait_in_vain(void)
{
	struct timespec limit = {0, 5000000};
	struct io_event event;

	return io_getevents(context, 1, 1, &event, &limit);
}
#else
#include <liburing.h>

static struct io_uring ring;

static void begin(void)
{
	int r = io_uring_queue_init(DEPTH, &ring, 0);

	if (r < 0)
		give_up("io_uring_queue_init", -r);
}

static void round_of(int fd, int writes, off_t offset, long sizes[DEPTH])
{
	for (int i = 0; i < DEPTH; i++) {
		struct io_uring_sqe *request = io_uring_get_sqe(&ring);
		uint64_t at = (uint64_t)offset + (uint64_t)i * BLOCK_BYTES;

		if (writes)
			io_uring_prep_write(request, fd, blocks[i], BLOCK_BYTES, at);
		else
			io_uring_prep_read(request, fd, blocks[i], BLOCK_BYTES, at);
		io_uring_sqe_set_data(request, (void *)(intptr_t)i);
	}
	io_uring_submit_and_wait(&ring, 1);
	for (int count = 0; count < DEPTH; count++) {
		struct io_uring_cqe *event;

		if (io_uring_wait_cqe(&ring, &event) < 0)
			exit(1);
		sizes[(intptr_t)io_uring_cqe_get_data(event)] = event->res;
		io_uring_cqe_seen(&ring, event);
	}
}

static int wait_in_vain(void)
{
	struct __kernel_timespec limit = {0, 5000000};
	struct io_uring_cqe *event;

	return io_uring_wait_cqe_timeout(&ring, &event, &limit);
}
#endif

static void load(int number, int fd, int writes, off_t size)
{
	unsigned long sum = 0;
	long bytes = 0;

	dlprof_load_begin(number);
	for (off_t at = 0; at < size; at += DEPTH * BLOCK_BYTES) {
		long sizes[DEPTH];

		round_of(fd, writes, at, sizes);
		for (int i = 0; i < DEPTH; i++) {
			sum = sum_of(sum, blocks[i], sizes[i]);
			bytes += sizes[i];
		}
	}
	dlprof_load_end(number);
	printf("%d: %ld bytes, %lu\n", number, bytes, sum);
}

int main(void)
{
	int fd = open("data", O_RDONLY), target = open("made", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	off_t size = lseek(fd, 0, SEEK_END);

	begin();
	for (int number = 0; number < 4; number++) {
		if (number < 3) {
			load(number, number == 2 ? target : fd, number == 2, size);
		} else {
			dlprof_load_begin(number);
			printf("%d\n", wait_in_vain());
			dlprof_load_end(number);
		}
		dlprof_batch_begin();
		dlprof_batch_end(number);
	}
	return 0;
}

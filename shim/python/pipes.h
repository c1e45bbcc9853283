/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipes.h - batches of a DataLoader that nobody patched, by what goes through its pipes.
 *
 * For a Python without audit hooks (before 3.8) and for loaders under other names: a process that
 * sends pickles (number, [indices]) into pipes and then polls another pipe for 5 s, as
 * DataLoader does, has workers that load. The number of the batch is in the first bytes of each
 * message, the pipe of the results names the loader as it does for patched ones. The loader that is
 * patched, marked or named by DLPROF_BATCH_FN has the word: with the first of them this ends.
 */
#ifndef PIPES_H
#define PIPES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* 1 while read, write and poll are to be looked at; 0 in programs without a Python. */
extern volatile uint32_t pipes_watch;

/* From the constructor. */
void pipes_install(void);

/* From the destructor: what was handed out since the last wait. */
void pipes_finish(void);

/*
 * Called by the wrappers: before a poll of one descriptor, before a write of `size` bytes, and
 * after a read that was asked for `size` bytes and got `count`. They never touch errno.
 * pipes_write() is false where the kernel copies no memory for us (seccomp): it is to be called
 * again after the write, with as many bytes as were written, which then `is_readable`.
 */
void pipes_poll(void *pollfd, int timeout_ms);
bool pipes_write(int fd, const void *buffer, size_t size, bool is_readable);
void pipes_read(int fd, const void *buffer, ssize_t count, size_t size);

/* A message as multiprocessing sends it, without its 4 bytes of length. */
enum pipes_message {
	PIPES_OTHER,
	PIPES_NONE,   /* None: a worker is to end */
	PIPES_NUMBER, /* (number, anything) */
	PIPES_INDEX,  /* (number, [...]) or (number, number): what DataLoader asks workers for */
	PIPES_PASSED, /* (number, an iterable dataset is at its end) */
};

/* Looks at no more than PIPES_LOOK_MAX of `bytes`. */
#define PIPES_LOOK_MAX 300
enum pipes_message pipes_parse(const uint8_t *bytes, size_t size, uint32_t *ret_number);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - reads the memory of another, running process, which is not trusted.
 *
 * Addresses found there are only given to the system call, which refuses those that are not mapped.
 */
#pragma once

#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#define MEMORY_PIECES 264

struct memory {
	/* process_vm_readv() that returns -errno; tests replace this function */
	ssize_t (*read)(const struct memory *memory, const struct iovec *to,
			const struct iovec *from, size_t count);
	int32_t pid;
};

struct memory_list {
	struct iovec to[MEMORY_PIECES], from[MEMORY_PIECES];
	size_t count;
};

void memory_open(struct memory *memory, int32_t pid);

void memory_add(struct memory_list *list, uint64_t address, void *bytes, size_t size);

/* Returns how many of the pieces, from the first on, were read whole; -errno: not allowed. */
int memory_read_list(const struct memory *memory, const struct memory_list *list);

int memory_read(const struct memory *memory, uint64_t address, void *bytes, size_t size);

/* Returns the 8-byte number at `offset`, which need not be aligned. */
static inline uint64_t memory_word(const void *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, (const uint8_t *)bytes + offset, sizeof(word));
	return word;
}

static inline int32_t memory_int(const void *bytes, size_t offset)
{
	int32_t number;

	memcpy(&number, (const uint8_t *)bytes + offset, sizeof(number));
	return number;
}

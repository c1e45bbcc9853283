/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - knows which addresses are device memory, and which host memory is pinned. */
#include <pthread.h>
#include <stddef.h>

#include "device.h"

enum { MAX_PINNED = 256 };

/* first address of device memory, where the process has nothing mapped */
#define DEVICE_BASE 0x200000000000ull
#define DEVICE_ROOM 0x10000000000ull

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void *pinned[MAX_PINNED][2];
static uint64_t device_bytes;

void memory_pin(const void *address, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_PINNED; i++) {
		if (pinned[i][0])
			continue;
		pinned[i][0] = address;
		pinned[i][1] = (const char *)address + bytes;
		break;
	}
	pthread_mutex_unlock(&lock);
}

void memory_unpin(const void *address)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_PINNED; i++)
		if (pinned[i][0] == address)
			pinned[i][0] = pinned[i][1] = NULL;
	pthread_mutex_unlock(&lock);
}

bool memory_is_pinned(const void *address)
{
	for (size_t i = 0; i < MAX_PINNED; i++)
		if (pinned[i][0] && pinned[i][0] <= address && address < pinned[i][1])
			return true;
	return false;
}

bool memory_is_device(const void *address)
{
	return (uintptr_t)address >= DEVICE_BASE && (uintptr_t)address < DEVICE_BASE + DEVICE_ROOM;
}

uint64_t memory_device(uint64_t bytes)
{
	return DEVICE_BASE +
	       __atomic_fetch_add(&device_bytes, (bytes + 255) & ~255ull, __ATOMIC_RELAXED);
}

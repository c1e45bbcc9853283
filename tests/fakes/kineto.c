/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kineto.c - what torch.profiler does to CUPTI's other client: it takes the buffer callbacks, puts
 * a clock of its own in CUPTI's place, and disables its kinds when it is done. Linked to libcupti,
 * so that its calls are bound by name and version; the program loads it with RTLD_LOCAL.
 *
 * KINETO_ONCE: it takes the buffer callbacks once for all its profiles, as no other client comes to
 * its mind. KINETO_DLSYM: it finds libcupti's functions as those do that are not linked to it.
 * KINETO_SHARED: its buffers are of all threads. KINETO_CALLS: it wants calls, with their threads.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

int cuptiSubscribe(void **handle, void *function, void *data);
int cuptiUnsubscribe(void *handle);
int cuptiActivityRegisterTimestampCallback(uint64_t (*source)(void));
int cuptiActivityRegisterCallbacks(void (*request)(uint8_t **, size_t *, size_t *),
				   void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t));
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flags);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, uint8_t **record);

/* By name, or as found. */
#define CUPTI(name)                                                                                \
	(getenv("KINETO_DLSYM")                                                                    \
		 ? (__typeof__(&name))dlsym(dlopen("libcupti.so.13", RTLD_NOW), #name)             \
		 : name)

enum {
	BUFFER_BYTES = 4 << 20,
	MEMCPY = 1,
	MEMSET = 2,
	RUNTIME = 5,
	KERNEL = 10,
	SYNCHRONIZATION = 38,
	PER_THREAD = 9,
};

static const uint32_t kinds[] = {MEMCPY, MEMSET, KERNEL, SYNCHRONIZATION, RUNTIME};
static long kernel_count, copy_count, foreign_count, subscribe_result;
static long node_count, sync_count, call_count, own_call_count;
static uint32_t starter; /* as CUPTI numbers threads by default */
static uint8_t *given[64];
static size_t given_count;
static bool once;
static uint64_t started; /* by its clock; what began before is of no interest to it */

static uint64_t ticks(void)
{
	return now_ns() / 10 * 21;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	memset(*buffer, 0xa5, BUFFER_BYTES); /* it uses them again and again */
	*bytes = BUFFER_BYTES;
	*max_records = 0;
	given[given_count++ % 64] = *buffer;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes)
{
	uint8_t *record = NULL;
	bool mine = false;

	for (size_t i = 0; i < 64; i++)
		mine = mine || given[i] == buffer;
	if (!mine) {
		foreign_count++; /* it logs an error, and the buffer leaks */
		return;
	}
	while (!cuptiActivityGetNextRecord(buffer, valid_bytes, &record)) {
		uint64_t begin;

		memcpy(&begin, record + 16, sizeof(begin));
		if (*(const uint32_t *)record == KERNEL && begin >= started)
			kernel_count++;
		if (*(const uint32_t *)record == MEMCPY && begin >= started)
			copy_count++;
		if (*(const uint32_t *)record == KERNEL && begin >= started)
			node_count += *(const uint32_t *)(record + 156) != 0;
		memcpy(&begin, record + 8, sizeof(begin));
		sync_count += *(const uint32_t *)record == SYNCHRONIZATION && begin >= started;
		if (*(const uint32_t *)record != RUNTIME || begin < started)
			continue;
		call_count++;
		own_call_count += *(const uint32_t *)(record + 28) == starter;
	}
	free(buffer);
}

static void ignore(void)
{
}

static size_t kind_count(void)
{
	return sizeof(kinds) / sizeof(kinds[0]) - !getenv("KINETO_CALLS");
}

EXPORT void kineto_start(void)
{
	void *subscriber;
	uint8_t no = 0;
	size_t bytes = sizeof(no);

	starter = (uint32_t)(uintptr_t)pthread_self();
	started = ticks();
	kernel_count = copy_count = foreign_count = 0;
	node_count = sync_count = call_count = own_call_count = 0;
	subscribe_result = cuptiSubscribe(&subscriber, (void *)ignore, NULL);
	if (!once && getenv("KINETO_SHARED"))
		CUPTI(cuptiActivitySetAttribute)(PER_THREAD, &bytes, &no);
	if (!once || !getenv("KINETO_ONCE")) {
		CUPTI(cuptiActivityRegisterTimestampCallback)(ticks);
		CUPTI(cuptiActivityRegisterCallbacks)(request, complete);
	}
	once = true;
	for (size_t i = 0; i < kind_count(); i++)
		CUPTI(cuptiActivityEnable)(kinds[i]);
}

EXPORT void kineto_stop(void)
{
	CUPTI(cuptiActivityFlushAll)(1);
	for (size_t i = 0; i < kind_count(); i++)
		CUPTI(cuptiActivityDisable)(kinds[i]);
	printf("kineto subscribe=%ld kernels=%ld copies=%ld foreign=%ld nodes=%ld syncs=%ld "
	       "calls=%ld own=%ld\n",
	       subscribe_result, kernel_count, copy_count, foreign_count, node_count, sync_count,
	       call_count, own_call_count);
	fflush(stdout);
}

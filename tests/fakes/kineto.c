/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kineto.c - acts like torch.profiler's library Kineto beside another client of CUPTI: registers
 * its own buffer callbacks and its own clock. A session ends in three parts: Kineto disables its
 * kinds, processes its trace of the CPU, and then flushes CUPTI, but only if CUPTI has a buffer of
 * Kineto's at that moment: else Kineto believes that nothing was recorded. It keeps operations that
 * lie between its start and its stop. This library is linked to libcupti, so that its calls are
 * bound by name and version; the program loads it with RTLD_LOCAL.
 *
 * KINETO_ONCE: registers its callbacks once for all sessions, since it expects no other client.
 * KINETO_DLSYM: finds libcupti's functions by dlsym(), as programs do that are not linked to it.
 * KINETO_SYNCS=N: 1: wants records of queries that find work unfinished; 0: wants none of them.
 * KINETO_SHARED: all threads share its buffers. KINETO_CALLS: enables calls, with their threads.
 * KINETO_CPU_MS: how long it processes its trace of the CPU. KINETO_THREAD: all this happens in a
 * separate thread while the program goes on, as with traces that a daemon asks for.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
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
int cuptiActivityEnableAllSyncRecords(uint8_t enable);
int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, uint8_t **record);

/* A function of libcupti: the linked one or, with KINETO_DLSYM, that of dlsym(). */
#define CUPTI(name)                                                                                \
	(getenv("KINETO_DLSYM")                                                                    \
		 ? (__typeof__(&name))dlsym(dlopen("libcupti.so.13", RTLD_NOW), #name)             \
		 : name)

enum {
	BUFFER_BYTES = 4 << 20,
	BUFFER_COUNT = 256,
	MEMCPY = 1,
	MEMSET = 2,
	RUNTIME = 5,
	KERNEL = 10,
	SYNCHRONIZATION = 38,
	PER_THREAD = 9,
};

enum state { FREE, OUT, BACK };

static const uint32_t kinds[] = {MEMCPY, MEMSET, KERNEL, SYNCHRONIZATION, RUNTIME};
static long kernel_count, copy_count, foreign_count, subscribe_result;
static long node_count, sync_count, call_count, own_call_count;
static uint32_t starter; /* thread that began the session, in CUPTI's default numbers */
static bool once, prepared;
static uint64_t started, stopped; /* begin and end of the session, by Kineto's clock */
static uint64_t *kernel_ticks;    /* begin of each kernel in the session */

/* For `buffers`, as CUPTI calls back in several threads. Not held while CUPTI is called. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	enum state state;
	uint8_t *data;
	size_t valid_bytes;
} buffers[256];

static pthread_t collector; /* thread that ends the last session, with KINETO_THREAD */
static bool collecting;
static sem_t disabled;

static uint64_t ticks(void)
{
	return now_ns() / 10 * 21;
}

static uint64_t ticks_ns(uint64_t at)
{
	return at / 21 * 10 + at % 21 * 10 / 21;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	memset(*buffer, 0xa5, BUFFER_BYTES); /* not zero, as Kineto uses buffers again */
	*bytes = BUFFER_BYTES;
	*max_records = 0;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUFFER_COUNT; i++) {
		if (buffers[i].state != FREE)
			continue;
		buffers[i].state = OUT;
		buffers[i].data = *buffer;
		break;
	}
	pthread_mutex_unlock(&lock);
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes)
{
	bool mine = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUFFER_COUNT && !mine; i++) {
		mine = buffers[i].state == OUT && buffers[i].data == buffer;
		if (!mine)
			continue;
		buffers[i].state = BACK;
		buffers[i].valid_bytes = valid_bytes;
	}
	foreign_count += !mine; /* of a foreign buffer, Kineto logs an error and leaks it */
	pthread_mutex_unlock(&lock);
}

static size_t out_count(void)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUFFER_COUNT; i++)
		count += buffers[i].state == OUT;
	pthread_mutex_unlock(&lock);
	return count;
}

/* Returns a record's begin, which is at `offset` before its end; 0: it is not in the session. */
static uint64_t begin_in_session(const uint8_t *record, size_t offset)
{
	uint64_t times[2];

	memcpy(times, record + offset, sizeof(times));
	return times[0] >= started && times[1] >= times[0] && times[1] <= stopped ? times[0] : 0;
}

static void take_record(const uint8_t *record)
{
	const uint32_t kind = *(const uint32_t *)record;
	const uint64_t begin =
		begin_in_session(record, kind == SYNCHRONIZATION || kind == RUNTIME ? 8 : 16);

	if (!begin)
		return;
	copy_count += kind == MEMCPY;
	sync_count += kind == SYNCHRONIZATION;
	call_count += kind == RUNTIME;
	own_call_count += kind == RUNTIME && *(const uint32_t *)(record + 28) == starter;
	if (kind != KERNEL)
		return;
	node_count += *(const uint32_t *)(record + 156) != 0;
	kernel_ticks = realloc(kernel_ticks, (size_t)(kernel_count + 1) * sizeof(*kernel_ticks));
	kernel_ticks[kernel_count++] = begin;
}

/* Frees the buffers that came back. kept: counts their records first. */
static void empty(bool kept)
{
	for (size_t i = 0; i < BUFFER_COUNT; i++) {
		uint8_t *record = NULL;
		bool back;

		pthread_mutex_lock(&lock);
		back = buffers[i].state == BACK;
		pthread_mutex_unlock(&lock);
		if (!back)
			continue;
		while (kept && !cuptiActivityGetNextRecord(buffers[i].data, buffers[i].valid_bytes,
							   &record))
			take_record(record);
		free(buffers[i].data);
		pthread_mutex_lock(&lock);
		buffers[i].state = FREE;
		pthread_mutex_unlock(&lock);
	}
}

/* Drops what an earlier session has left in CUPTI's buffers. */
static void clear(void)
{
	if (!out_count())
		return;
	CUPTI(cuptiActivityFlushAll)(0);
	empty(false);
}

static void ignore(void)
{
}

static size_t kind_count(void)
{
	return sizeof(kinds) / sizeof(kinds[0]) - !getenv("KINETO_CALLS");
}

static void *prepare(void *unused)
{
	void *subscriber;
	uint8_t no = 0;
	size_t bytes = sizeof(no);

	clear();
	subscribe_result = cuptiSubscribe(&subscriber, (void *)ignore, NULL);
	if (!once && getenv("KINETO_SHARED"))
		CUPTI(cuptiActivitySetAttribute)(PER_THREAD, &bytes, &no);
	if (!once && getenv("KINETO_SYNCS"))
		CUPTI(cuptiActivityEnableAllSyncRecords)(getenv("KINETO_SYNCS")[0] == '1');
	if (!once || !getenv("KINETO_ONCE")) {
		CUPTI(cuptiActivityRegisterTimestampCallback)(ticks);
		CUPTI(cuptiActivityRegisterCallbacks)(request, complete);
	}
	once = true;
	for (size_t i = 0; i < kind_count(); i++)
		CUPTI(cuptiActivityEnable)(kinds[i]);
	return unused;
}

static void *warm_up(void *unused)
{
	clear();
	return unused;
}

static void tell(void)
{
	char *line = NULL;
	size_t length = 0;
	FILE *text = open_memstream(&line, &length);

	fprintf(text,
		"kineto subscribe=%ld kernels=%ld copies=%ld foreign=%ld nodes=%ld syncs=%ld "
		"calls=%ld own=%ld\n",
		subscribe_result, kernel_count, copy_count, foreign_count, node_count, sync_count,
		call_count, own_call_count);
	fprintf(text, "{\"session\": [%llu, %llu], \"kernels\": [",
		(unsigned long long)ticks_ns(started), (unsigned long long)ticks_ns(stopped));
	for (long i = 0; i < kernel_count; i++)
		fprintf(text, "%s%llu", i ? ", " : "",
			(unsigned long long)ticks_ns(kernel_ticks[i]));
	fprintf(text, "]}\n");
	fclose(text);
	fputs(line, stdout);
	fflush(stdout);
	free(line);
}

static void *collect(void *unused)
{
	const char *cpu_ms = getenv("KINETO_CPU_MS");
	uint8_t no = 0;
	size_t bytes = sizeof(no);

	stopped = ticks();
	for (size_t i = 0; i < kind_count(); i++)
		CUPTI(cuptiActivityDisable)(kinds[i]);
	sem_post(&disabled);
	if (cpu_ms)
		sleep_until(now_ns() + strtoull(cpu_ms, NULL, 0) * NS_PER_MS);
	if (out_count()) {
		CUPTI(cuptiActivityFlushAll)(1);
		CUPTI(cuptiActivitySetAttribute)(PER_THREAD, &bytes, &no);
		empty(true);
	}
	tell();
	clear();
	return unused;
}

/* Calls `what`, with KINETO_THREAD in a thread that is in *ret_thread; NULL: waits for its end. */
static void do_it(void *(*what)(void *), pthread_t *ret_thread)
{
	pthread_t thread;

	if (!getenv("KINETO_THREAD") || pthread_create(&thread, NULL, what, NULL)) {
		what(NULL);
		return;
	}
	if (!ret_thread) {
		pthread_join(thread, NULL);
		return;
	}
	*ret_thread = thread;
	collecting = true;
}

__attribute__((destructor)) static void wait_for_collector(void)
{
	if (collecting)
		pthread_join(collector, NULL);
	collecting = false;
}

/* Begins the profiler's warm-up: CUPTI already records, but Kineto drops these records. */
EXPORT void kineto_prepare(void)
{
	wait_for_collector();
	do_it(prepare, NULL);
	prepared = true;
}

EXPORT void kineto_start(void)
{
	if (!prepared)
		kineto_prepare();
	else if (getenv("KINETO_THREAD"))
		do_it(warm_up, NULL);
	starter = (uint32_t)(uintptr_t)pthread_self();
	kernel_count = copy_count = foreign_count = 0;
	node_count = sync_count = call_count = own_call_count = 0;
	started = ticks();
}

/* Forces a flush without any session, so that all that another client has comes out. */
EXPORT void kineto_flush(void)
{
	CUPTI(cuptiActivityFlushAll)(1);
}

EXPORT void kineto_stop(void)
{
	prepared = false;
	sem_init(&disabled, 0, 0);
	do_it(collect, &collector);
	sem_wait(&disabled);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - a tracer that the driver injects. It writes all records that it gets, and the threads
 * on which they come. Tests of the fakes use it, and tests of what real hardware does.
 *
 * CLIENT_OUT: file to write. CLIENT_KINDS: activity kinds, "10,1,2"; "-10": enabling it must fail.
 * CLIENT_FLUSH_MS: pause between flushes (flag 0); CLIENT_FORCE_MS: forces a flush this long after
 * the first request for a buffer. CLIENT_BUFFER: size of a buffer. CLIENT_CALLBACK: number of a
 * driver call to subscribe to. CLIENT_UNSUBSCRIBE=1: unsubscribes. CLIENT_TWICE=1: subscribes anew.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

static struct {
	int (*subscribe)(void **, void *, void *);
	int (*unsubscribe)(void *);
	int (*enable_callback)(uint32_t, void *, int, uint32_t);
	int (*register_callbacks)(void *, void *);
	int (*enable)(uint32_t);
	int (*flush)(uint32_t);
	int (*flush_period)(uint32_t);
	int (*next)(uint8_t *, size_t, uint8_t **);
	int (*dropped)(void *, uint32_t, size_t *);
	int (*timestamp)(uint64_t *);
	int (*version)(uint32_t *);
} cupti;

static const struct {
	const char *name;
	void *function;
} symbols[] = {
	{"cuptiSubscribe", &cupti.subscribe},
	{"cuptiUnsubscribe", &cupti.unsubscribe},
	{"cuptiEnableCallback", &cupti.enable_callback},
	{"cuptiActivityRegisterCallbacks", &cupti.register_callbacks},
	{"cuptiActivityEnable", &cupti.enable},
	{"cuptiActivityFlushAll", &cupti.flush},
	{"cuptiActivityFlushPeriod", &cupti.flush_period},
	{"cuptiActivityGetNextRecord", &cupti.next},
	{"cuptiActivityGetNumDroppedRecords", &cupti.dropped},
	{"cuptiGetTimestamp", &cupti.timestamp},
	{"cuptiGetVersion", &cupti.version},
};

static FILE *out;
static pid_t owner;
static long callback_count;
static volatile bool asked; /* CUPTI has asked for a buffer */

static long setting(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? atol(value) : otherwise;
}

static void write_pair(FILE *to, const char *what)
{
	uint64_t stamp = 0, before = now_ns();

	cupti.timestamp(&stamp);
	fprintf(to, "%s %llu %llu %llu\n", what, (unsigned long long)before,
		(unsigned long long)stamp, (unsigned long long)now_ns());
}

static void give(uint8_t **buffer, size_t *bytes, size_t *max_records, const char *who)
{
	*bytes = (size_t)setting("CLIENT_BUFFER", 256 << 10);
	*buffer = aligned_alloc(8, *bytes);
	*max_records = 0;
	asked = true;
	fprintf(out, "%s %u %p %llu\n", who, thread_id(), (void *)*buffer,
		(unsigned long long)now_ns());
}

static void request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	give(buffer, bytes, max_records, "request");
}

static void request_later(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	give(buffer, bytes, max_records, "later");
}

static uint64_t field64(const uint8_t *record, size_t offset)
{
	uint64_t value;

	memcpy(&value, record + offset, sizeof(value));
	return value;
}

static uint32_t field32(const uint8_t *record, size_t offset)
{
	uint32_t value;

	memcpy(&value, record + offset, sizeof(value));
	return value;
}

/* Writes "record KIND BEGIN END CORRELATION STREAM BYTES COPY-OR-SYNC-KIND GRAPH NAME". */
static void write_record(FILE *to, const uint8_t *record)
{
	const uint32_t kind = field32(record, 0);

	switch (kind) {
	case 3:
	case 10:
		fprintf(to, "record %u %llu %llu %u %u 0 0 %u %s\n", kind,
			(unsigned long long)field64(record, 16),
			(unsigned long long)field64(record, 24), field32(record, 92),
			field32(record, 48), field32(record, 156),
			(const char *)(uintptr_t)field64(record, 104));
		break;
	case 1:
	case 2:
		fprintf(to, "record %u %llu %llu %u %u %llu %u %u -\n", kind,
			(unsigned long long)field64(record, 16),
			(unsigned long long)field64(record, 24), field32(record, 44),
			field32(record, 40), (unsigned long long)field64(record, 8),
			kind == 1 ? record[4] + 100u * record[5] : 0, field32(record, 72));
		break;
	case 38:
		fprintf(to, "record %u %llu %llu %u %u 0 %u 0 -\n", kind,
			(unsigned long long)field64(record, 8),
			(unsigned long long)field64(record, 16), field32(record, 24),
			field32(record, 32), field32(record, 4));
		break;
	case 51:
		fprintf(to, "record %u %llu %llu %u %u 0 0 %u -\n", kind,
			(unsigned long long)field64(record, 8),
			(unsigned long long)field64(record, 16), field32(record, 4),
			field32(record, 36), field32(record, 28));
		break;
	default:
		fprintf(to, "record %u %llu %llu %u 0 0 %u 0 -\n", kind,
			(unsigned long long)field64(record, 8),
			(unsigned long long)field64(record, 16), field32(record, 32),
			field32(record, 4));
	}
}

/* Writes all lines at once: while CUPTI is called, the file must not be locked (see request()). */
static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
		     size_t valid_bytes)
{
	uint8_t *record = NULL;
	size_t length = 0;
	char *text = NULL;
	FILE *lines = open_memstream(&text, &length);

	write_pair(lines, "clock");
	fprintf(lines, "buffer %u %llu %zu of %zu %p\n", thread_id(), (unsigned long long)now_ns(),
		valid_bytes, bytes, (void *)buffer);
	while (!cupti.next(buffer, valid_bytes, &record))
		write_record(lines, record);
	fclose(lines);
	fwrite(text, 1, length, out);
	free(text);
	free(buffer);
}

static void complete_later(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			   size_t valid_bytes)
{
	fprintf(out, "taken %p\n", (void *)buffer);
	complete(context, stream, buffer, bytes, valid_bytes);
}

static void callback(void *data, int domain, uint32_t id, const void *what)
{
	callback_count++;
}

static void *flush_often(void *unused)
{
	const long period = setting("CLIENT_FLUSH_MS", 0), force = setting("CLIENT_FORCE_MS", 0);
	const long replace = setting("CLIENT_REPLACE_MS", 0);

	if (replace) {
		usleep((unsigned int)replace * 1000);
		fprintf(out, "replaced %d\n",
			cupti.register_callbacks((void *)request_later, (void *)complete_later));
	}
	if (force) {
		while (!asked)
			usleep(1000);
		usleep((unsigned int)force * 1000);
		fprintf(out, "forced %d\n", cupti.flush(1));
	}
	while (period) {
		usleep((unsigned int)period * 1000);
		cupti.flush(0);
	}
	return NULL;
}

static void finish(void)
{
	size_t dropped = 0;

	if (getpid() != owner)
		return;
	cupti.flush(1);
	cupti.dropped(NULL, 0, &dropped);
	fprintf(out, "dropped %zu\ncallbacks %ld\nend\n", dropped, callback_count);
	fclose(out);
}

/* Writes what another copy of libcupti returns while the first one is in use. */
static void ask_second(const char *path)
{
	void *library = dlopen(path, RTLD_NOW), *handle;
	int (*subscribe)(void **, void *, void *) =
		library ? (int (*)(void **, void *, void *))dlsym(library, "cuptiSubscribe") : NULL;
	int (*enable)(uint32_t) =
		library ? (int (*)(uint32_t))dlsym(library, "cuptiActivityEnable") : NULL;

	if (subscribe && enable)
		fprintf(out, "second %d %d\n", subscribe(&handle, (void *)callback, NULL),
			enable(10));
}

static void enable_kinds(char *kinds)
{
	for (char *kind = strtok(kinds, ","); kind; kind = strtok(NULL, ","))
		fprintf(out, "enable %s %d\n", kind, cupti.enable((uint32_t)labs(atol(kind))));
}

EXPORT int InitializeInjection(void)
{
	const char *path = getenv("CLIENT_OUT"), *kinds = getenv("CLIENT_KINDS");
	const char *name = getenv("CLIENT_CUPTI");
	void *library = dlopen(name ? name : "libcupti.so.13", RTLD_NOW);
	void *handle = NULL, *second = NULL;
	uint32_t version = 0;
	pthread_t thread;

	out = path ? fopen(path, "w") : NULL;
	if (!out || !library) {
		fprintf(stderr, "client: %s\n", library ? "no CLIENT_OUT" : dlerror());
		return 0;
	}
	owner = getpid();
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		*(void **)symbols[i].function = dlsym(library, symbols[i].name);
	cupti.version(&version);
	fprintf(out, "version %u\n", version);
	fprintf(out, "subscribe %d\n", cupti.subscribe(&handle, (void *)callback, NULL));
	if (setting("CLIENT_TWICE", 0))
		fprintf(out, "again %d\n", cupti.subscribe(&second, (void *)callback, NULL));
	if (setting("CLIENT_CALLBACK", 0))
		cupti.enable_callback(1, handle, 1, (uint32_t)setting("CLIENT_CALLBACK", 0));
	fprintf(out, "register %d\n", cupti.register_callbacks((void *)request, (void *)complete));
	enable_kinds(strdup(kinds ? kinds : "10,1,2,38"));
	if (setting("CLIENT_UNSUBSCRIBE", 0)) {
		fprintf(out, "unsubscribe %d\n", cupti.unsubscribe(handle));
		fprintf(out, "again %d\n", cupti.subscribe(&second, (void *)callback, NULL));
	}
	if (setting("CLIENT_PERIOD_MS", 0))
		cupti.flush_period((uint32_t)setting("CLIENT_PERIOD_MS", 0));
	if (getenv("CLIENT_SECOND"))
		ask_second(getenv("CLIENT_SECOND"));
	write_pair(out, "clock");
	if (!pthread_create(&thread, NULL, flush_often, NULL))
		pthread_detach(thread);
	atexit(finish);
	return !setting("CLIENT_FAIL", 0);
}

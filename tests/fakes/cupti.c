/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti.c - CUPTI's activity and callback functions, on top of the fake driver. Only enabled kinds
 * and callbacks are delivered. Without a driver, functions return what those of the same version
 * of CUPTI return. FAKE_CUPTI_RC_name=27: cupti<name> returns 27; "27:51": if its argument is 51.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffers.h"
#include "common.h"
#include "stamps.h"
#include "thief.h"

enum {
	SUCCESS = 0,
	INVALID_PARAMETER = 1,
	NOT_INITIALIZED = 15,
	INVALID_KIND = 21,
	MULTIPLE_SUBSCRIBERS = 39,
	UNKNOWN = 999,
};

enum {
	DOMAIN_COUNT = 3,
	CALL_COUNT = 1024,
	DROPPED_ALWAYS = 23,
	FIRST_FULL_SYNC = 130001,
	GENERAL_AVAILABILITY = 130000,
	DRIVER_FIRST = 130200,
	DRIVER_FIRST_MENDED = 130300,
};

struct callback_data {
	int site;
	const char *function_name;
	const void *function_parameters;
	void *function_result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *correlation_data;
	uint32_t correlation;
};

typedef void callback_fn(void *data, int domain, uint32_t id, const struct callback_data *what);

struct subscriber_parameters {
	size_t bytes;
	const char *name;
	char *old_name;
	size_t old_name_bytes;
};

static pid_t owner;
static uint64_t enabled_ns[KIND_COUNT]; /* 0: not enabled */
static bool call_enabled[DOMAIN_COUNT][CALL_COUNT];
static bool record_calls[DOMAIN_COUNT][CALL_COUNT];
static callback_fn *subscriber;
static void *subscriber_data;
static char subscriber_name[64];
static bool stopped;
static uint64_t graph_level_ns; /* since when graphs are recorded as wholes; 0: as nodes */
static int thread_id_type, sync_records = -1;

static long version(void)
{
	return knob("CUPTI_VERSION", FAKE_VERSION);
}

/* Returns the error that FAKE_CUPTI_RC_name sets for a call of `name`; 0: none. */
static int planned(const char *name, long argument)
{
	char knob_name[64];
	const char *text, *only;
	size_t i = (size_t)snprintf(knob_name, sizeof(knob_name), "CUPTI_RC_%s", name + 5);

	while (i-- > 9)
		knob_name[i] = (char)toupper((unsigned char)knob_name[i]);
	text = knob_text(knob_name);
	only = text ? strchr(text, ':') : NULL;
	return !text || (only && strtol(only + 1, NULL, 0) != argument) ? 0 : atoi(text);
}

static int attach(void);

/*
 * From 13.2 on each function needs the driver, even that for the version. Without a driver, those
 * of 13.2 itself call one another until the stack is full.
 */
static int want_driver(void)
{
	const int result = version() < DRIVER_FIRST ? SUCCESS : attach();

	if (result && version() < DRIVER_FIRST_MENDED) {
		call_log("MISUSE called without a driver, which crashes this version");
		abort();
	}
	return result;
}

static int entry_result(const char *name, long argument, bool allowed_in_callback)
{
	int result;

	call_log("%s %ld", name, argument);
	if (buffers_in_callback() && !allowed_in_callback)
		call_log("MISUSE %s in a buffer callback", name);
	if (owner && owner != getpid()) {
		call_log("MISUSE %s in a forked child", name);
		while (knob("CUPTI_FORK_HANG", 1))
			pause();
	}
	result = planned(name, argument);
	return result ? result : want_driver();
}

#define ENTER(argument, in_callback)                                                               \
	do {                                                                                       \
		int entered = entry_result(__func__, (long)(argument), in_callback);               \
                                                                                                   \
		if (entered)                                                                       \
			return entered;                                                            \
	} while (0)

#define ATTACH()                                                                                   \
	do {                                                                                       \
		int attached = attach();                                                           \
                                                                                                   \
		if (attached)                                                                      \
			return attached;                                                           \
	} while (0)

static bool kind_on(uint32_t kind)
{
	return kind < KIND_COUNT && enabled_ns[kind] && !stopped;
}

/* Returns true if records have correlation ids: calls are recorded, or FAKE_CUPTI_CORRELATION=1. */
static bool correlated(void)
{
	if (knob("CUPTI_CORRELATION", 0) || kind_on(KIND_DRIVER) || kind_on(KIND_RUNTIME))
		return true;
	for (size_t i = 0; i < DOMAIN_COUNT; i++)
		if (memchr(call_enabled[i], 1, CALL_COUNT) ||
		    memchr(record_calls[i], 1, CALL_COUNT))
			return true;
	return false;
}

/* FAKE_CUPTI_NO_KERNELS=N, ..._TO=M: kernels can be enabled, but records of N to M never come. */
static bool is_withheld(void)
{
	const long from = knob("CUPTI_NO_KERNELS", 0);
	static _Atomic long count;
	const long number = ++count;

	return from && number >= from && number <= knob("CUPTI_NO_KERNELS_TO", LONG_MAX);
}

static void add(const struct op *op)
{
	struct entry entry = {.kind = record_kind(op), .op = *op};

	if (owner != getpid())
		return;
	if (thief_leaves())
		memset(enabled_ns, 0, sizeof(enabled_ns));
	if (entry.kind == KIND_CONCURRENT_KERNEL && !kind_on(entry.kind))
		entry.kind = KIND_KERNEL;
	if (!kind_on(entry.kind))
		return;
	if (op->kind == OP_KERNEL && is_withheld())
		return;
	/* Queries that found work unfinished are recorded since 13, unless set otherwise. */
	if (op->polled && !(sync_records < 0 ? version() >= GENERAL_AVAILABILITY : sync_records))
		return;
	/* The first release of 13.0 does not record synchronizations of the whole device. */
	if (op->kind == OP_SYNC && op->sync_type == SYNC_CONTEXT &&
	    version() == GENERAL_AVAILABILITY)
		return;
	if (!correlated())
		entry.op.correlation = 0;
	buffers_add(&entry);
}

static void add_graph(const struct op *whole, const struct op *nodes, size_t count,
		      uint64_t instantiated_ns)
{
	if (graph_level_ns) {
		if (kind_on(KIND_GRAPH_TRACE) && instantiated_ns > graph_level_ns)
			add(whole);
		return;
	}
	for (size_t i = 0; i < count; i++)
		add(&nodes[i]);
}

static void on_api(int site, enum api_domain domain, uint32_t id, const char *name,
		   uint32_t correlation, uint64_t begin_ns, uint64_t end_ns)
{
	const uint32_t kind = domain == API_DRIVER ? KIND_DRIVER : KIND_RUNTIME;
	static __thread uint64_t correlation_data;
	struct callback_data data = {
		.site = site,
		.function_name = name,
		.context_id = 1,
		.correlation_data = &correlation_data,
		.correlation = correlation,
	};
	struct entry entry = {
		.kind = kind,
		.call = id,
		.thread = thread_id_type == 1 ? thread_id() : (uint32_t)(uintptr_t)pthread_self(),
		.op = {.correlation = correlation, .begin_ns = begin_ns, .end_ns = end_ns},
	};

	if (owner != getpid() || id >= CALL_COUNT)
		return;
	if (subscriber && call_enabled[domain][id])
		subscriber(subscriber_data, (int)domain, id, &data);
	if (site == 1 && !stopped && (kind_on(kind) || record_calls[domain][id]))
		buffers_add(&entry);
}

static int attach(void)
{
	static const struct tracer tracer = {add, add_graph, on_api};
	void (*set)(const struct tracer *);
	int (*driver_version)(int *);
	int driver = 0;
	void *cuda;

	if (owner)
		return SUCCESS;
	cuda = dlopen("libcuda.so.1", RTLD_LAZY);
	set = cuda ? (void (*)(const struct tracer *))dlsym(cuda, "fake_tracer_set") : NULL;
	if (!set)
		return version() < GENERAL_AVAILABILITY ? NOT_INITIALIZED : UNKNOWN;
	driver_version = (int (*)(int *))dlsym(cuda, "cuDriverGetVersion");
	driver_version(&driver);
	if (driver / 1000 < FAKE_MAJOR)
		return NOT_INITIALIZED;
	read_settings(knob_text("CUPTI_READS"));
	owner = getpid();
	buffers_set_per_thread(knob("CUPTI_THREADS", version() >= GENERAL_AVAILABILITY));
	set(&tracer);
	return SUCCESS;
}

EXPORT int cuptiGetVersion(uint32_t *result)
{
	ENTER(0, true);
	*result = (uint32_t)version();
	return SUCCESS;
}

EXPORT int cuptiGetResultString(int result, const char **text)
{
	static __thread char name[32];
	const int refused = want_driver();

	if (refused)
		return refused;
	snprintf(name, sizeof(name), result ? "CUPTI_ERROR_%d" : "CUPTI_SUCCESS", result);
	*text = name;
	return SUCCESS;
}

EXPORT int cuptiGetErrorMessage(int result, const char **text)
{
	return cuptiGetResultString(result, text);
}

EXPORT int cuptiGetLastError(void)
{
	return want_driver();
}

EXPORT int cuptiGetTimestamp(uint64_t *stamp)
{
	const int refused = planned(__func__, 0), result = refused ? refused : want_driver();

	buffers_lock(true);
	if (!result)
		*stamp = stamp_now();
	buffers_lock(false);
	return result;
}

static int subscribe(void **handle, callback_fn *function, void *data, const char *name)
{
	ATTACH();
	if (subscriber)
		return MULTIPLE_SUBSCRIBERS;
	subscriber = function;
	subscriber_data = data;
	snprintf(subscriber_name, sizeof(subscriber_name), "CUPTI for %s", name ? name : "");
	*handle = subscriber_name;
	return SUCCESS;
}

EXPORT int cuptiSubscribe(void **handle, callback_fn *function, void *data)
{
	ENTER(0, false);
	return subscribe(handle, function, data, NULL);
}

EXPORT int cuptiSubscribe_v2(void **handle, callback_fn *function, void *data,
			     struct subscriber_parameters *parameters)
{
	int result;

	ENTER(0, false);
	result = subscribe(handle, function, data, parameters ? parameters->name : NULL);
	if (result == MULTIPLE_SUBSCRIBERS && parameters && parameters->old_name)
		snprintf(parameters->old_name, parameters->old_name_bytes, "%s", subscriber_name);
	return result;
}

EXPORT int cuptiUnsubscribe(void *handle)
{
	ENTER(0, false);
	if (!handle || handle != subscriber_name)
		return INVALID_PARAMETER;
	subscriber = NULL;
	memset(call_enabled, 0, sizeof(call_enabled));
	/* Records stop (CUPTI is not known to do so). 1: until a kind is enabled; 2: for ever. */
	stopped = knob("CUPTI_UNSUBSCRIBE_STOPS", 0);
	return SUCCESS;
}

EXPORT int cuptiEnableCallback(uint32_t enable, void *handle, int domain, uint32_t id)
{
	ENTER(id, false);
	if (!handle || handle != subscriber_name || domain >= DOMAIN_COUNT || id >= CALL_COUNT)
		return INVALID_PARAMETER;
	call_enabled[domain][id] = enable;
	return SUCCESS;
}

EXPORT int cuptiEnableDomain(uint32_t enable, void *handle, int domain)
{
	ENTER(domain, false);
	if (!handle || handle != subscriber_name)
		return INVALID_PARAMETER;
	if (domain < DOMAIN_COUNT)
		memset(call_enabled[domain], enable != 0, CALL_COUNT);
	return SUCCESS;
}

EXPORT int cuptiActivityRegisterCallbacks(request_fn *request, complete_fn *complete)
{
	ENTER(0, false);
	if (!request || !complete)
		return INVALID_PARAMETER;
	buffers_register(request, complete);
	return SUCCESS;
}

EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*source)(void))
{
	ENTER(0, false);
	ATTACH();
	stamp_source(source);
	return SUCCESS;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	ENTER(kind, false);
	ATTACH();
	if (kind >= KIND_COUNT)
		return INVALID_KIND;
	stopped = stopped && knob("CUPTI_UNSUBSCRIBE_STOPS", 0) == 2;
	enabled_ns[kind] = now_ns();
	/* "Disabling the activity ... does not restore node level tracing": header of 13.5. */
	if (kind == KIND_GRAPH_TRACE && !graph_level_ns)
		graph_level_ns = now_ns();
	return SUCCESS;
}

EXPORT int cuptiActivityDisable(uint32_t kind)
{
	ENTER(kind, false);
	ATTACH();
	if (kind < KIND_COUNT)
		enabled_ns[kind] = 0;
	return SUCCESS;
}

EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
	ENTER(id, false);
	ATTACH();
	if (id < CALL_COUNT)
		record_calls[API_DRIVER][id] = enable;
	return SUCCESS;
}

EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
	ENTER(id, false);
	ATTACH();
	if (id < CALL_COUNT)
		record_calls[API_RUNTIME][id] = enable;
	return SUCCESS;
}

EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	ENTER(enable, false);
	ATTACH();
	sync_records = enable;
	return SUCCESS;
}

EXPORT int cuptiActivitySetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	ENTER(attribute, false);
	ATTACH();
	if (attribute == 5)
		buffers_set_zeroed(*(uint8_t *)value);
	for (size_t i = 0; attribute == 9 && i < KIND_COUNT; i++)
		if (enabled_ns[i] && i != KIND_OVERHEAD)
			call_log("MISUSE buffers made everybody's while records are made");
	if (attribute == 9)
		buffers_set_per_thread(*(uint8_t *)value);
	return SUCCESS;
}

EXPORT int cuptiActivityGetAttribute(uint32_t attribute, size_t *bytes, void *value)
{
	ENTER(attribute, false);
	ATTACH();
	memset(value, 0, *bytes);
	if (attribute == 9)
		*(uint8_t *)value = buffers_are_per_thread();
	return SUCCESS;
}

EXPORT int cuptiActivityFlushPeriod(uint32_t ms)
{
	ENTER(ms, false);
	ATTACH();
	buffers_set_period(ms);
	return SUCCESS;
}

EXPORT int cuptiActivityFlushAll(uint32_t flags)
{
	ENTER(flags, false);
	ATTACH();
	while (flags & 1 && knob("CUPTI_FLUSH_HANG", 0))
		pause();
	/* A file that CUPTI reads, in any thread. It must not count as the program's data. */
	if (knob_text("CUPTI_READS"))
		read_settings(knob_text("CUPTI_READS"));
	if (!buffers_in_callback())
		buffers_flush(flags & 1);
	return SUCCESS;
}

EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *count)
{
	ENTER(0, true);
	if (version() < DROPPED_ALWAYS)
		ATTACH();
	*count = buffers_dropped();
	return SUCCESS;
}

EXPORT int cuptiSetThreadIdType(int type)
{
	ENTER(type, false);
	ATTACH();
	thread_id_type = type;
	return SUCCESS;
}

EXPORT int cuptiGetDeviceId(void *context, uint32_t *device)
{
	*device = (uint32_t)((uintptr_t)context - 0x1000);
	return SUCCESS;
}

EXPORT int cuptiGetContextId(void *context, uint32_t *id)
{
	*id = (uint32_t)((uintptr_t)context - 0x1000) + 1;
	return SUCCESS;
}

EXPORT int cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	*id = 7;
	return SUCCESS;
}

EXPORT int cuptiFinalize(void)
{
	ENTER(0, false);
	return SUCCESS;
}

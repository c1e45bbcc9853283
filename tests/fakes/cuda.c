/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.c - those public functions of the driver that tests and the fake runtime call, on top of
 * device.c. A kernel's function pointer is its name, and gridDimX the microseconds that it takes.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "device.h"

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NOT_FOUND = 500, NOT_READY = 600 };
enum { PER_THREAD = 2 }; /* handle of the thread's own stream, and a flag of cuGetProcAddress */

static pid_t owner;

/* Runs the body of a driver function: refuses a forked child, and tells the tracer of the call. */
#define CALL(id, name, body)                                                                       \
	do {                                                                                       \
		uint64_t call_begin;                                                               \
                                                                                                   \
		if (owner != getpid())                                                             \
			return NOT_INITIALIZED;                                                    \
		call_begin = api_enter(API_DRIVER, id, name);                                      \
		body;                                                                              \
		api_leave(API_DRIVER, id, name, call_begin);                                       \
	} while (0)

/* Defines a function of a stream and its _ptsz variant, for which stream 0 is the thread's own. */
#define STREAM_CALL(name, id, ptsz_id, signature, body)                                            \
	EXPORT int name signature                                                                  \
	{                                                                                          \
		struct stream *s = NULL;                                                           \
                                                                                                   \
		CALL(id, #name, s = stream_of(stream); body);                                      \
		return SUCCESS;                                                                    \
	}                                                                                          \
	EXPORT int name##_ptsz signature                                                           \
	{                                                                                          \
		struct stream *s = NULL;                                                           \
                                                                                                   \
		CALL(ptsz_id, #name "_ptsz", s = stream_of(stream ? stream : (void *)PER_THREAD);  \
		     body);                                                                        \
		return SUCCESS;                                                                    \
	}

/* Loads the tracer that CUDA_INJECTION64_PATH names, at the first successful cuInit(). */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *handle;
	int result;

	if (!path || !*path || !strcmp(path, "none"))
		return;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	initialize = handle ? (int (*)(void))dlsym(handle, "InitializeInjection") : NULL;
	call_log("inject %s %s", path, initialize ? "found" : "missing");
	result = initialize ? initialize() : -1;
	call_log("injected %d", result);
}

EXPORT int cuInit(unsigned int flags)
{
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	const int failure = (int)knob("CUDA_INIT_RC", 0);
	bool first;

	if (failure)
		return failure;
	pthread_mutex_lock(&once);
	first = !owner;
	if (first)
		owner = getpid();
	pthread_mutex_unlock(&once);
	if (owner != getpid())
		return NOT_INITIALIZED; /* a forked child cannot use its parent's CUDA */
	if (first) {
		call_log("cuInit");
		inject();
	}
	return SUCCESS;
}

EXPORT int cuDriverGetVersion(int *version)
{
	*version = (int)knob("DRIVER_VERSION", 13000);
	return SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count)
{
	*count = device_count();
	return SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int length, int device)
{
	snprintf(name, (size_t)length, "Fake GPU %d", device_physical(device));
	return SUCCESS;
}

EXPORT int cuDeviceGetPCIBusId(char *place, int length, int device)
{
	snprintf(place, (size_t)length, "0000:%02x:00.0", 16 + device_physical(device));
	return device < device_count() ? SUCCESS : 101;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = (void *)(uintptr_t)(0x1000 + device);
	return owner == getpid() ? SUCCESS : NOT_INITIALIZED;
}

EXPORT int cuCtxSetCurrent(void *context)
{
	device_select((int)((uintptr_t)context - 0x1000));
	return SUCCESS;
}

EXPORT int cuCtxGetDevice(int *device)
{
	*device = device_current();
	return SUCCESS;
}

EXPORT int cuCtxSynchronize(void)
{
	CALL(17, "cuCtxSynchronize", device_synchronize());
	return SUCCESS;
}

EXPORT int cuStreamCreate(void **stream, unsigned int flags)
{
	*stream = stream_new(!(flags & 1));
	return SUCCESS;
}

STREAM_CALL(cuStreamSynchronize, 126, 440, (void *stream), stream_synchronize(s))
STREAM_CALL(cuStreamWaitEvent, 295, 436, (void *stream, void *event, unsigned int flags),
	    stream_wait(s, event))
STREAM_CALL(cuEventRecord, 119, 441, (void *event, void *stream), event_record(event, s))

EXPORT int cuStreamQuery(void *stream)
{
	return stream_query(stream_of(stream)) ? SUCCESS : NOT_READY;
}

EXPORT int cuEventCreate(void **event, unsigned int flags)
{
	*event = event_new();
	return SUCCESS;
}

EXPORT int cuEventDestroy_v2(void *event)
{
	free(event);
	return SUCCESS;
}

EXPORT int cuEventQuery(void *event)
{
	return event_query(event) ? SUCCESS : NOT_READY;
}

EXPORT int cuEventSynchronize(void *event)
{
	CALL(121, "cuEventSynchronize", event_synchronize(event));
	return SUCCESS;
}

EXPORT int cuEventElapsedTime(float *ms, void *begin, void *end)
{
	*ms = (float)((double)(event_ns(end) - event_ns(begin)) / 1e6);
	return SUCCESS;
}

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	*address = memory_device(bytes);
	return SUCCESS;
}

EXPORT int cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	*address = calloc(1, bytes);
	memory_pin(*address, bytes);
	return SUCCESS;
}

EXPORT int cuMemFreeHost(void *address)
{
	memory_unpin(address);
	free(address);
	return SUCCESS;
}

#define ADDRESS(value) ((const void *)(uintptr_t)(value))

STREAM_CALL(cuMemcpyHtoDAsync_v2, 277, 421,
	    (uint64_t target, const void *source, size_t bytes, void *stream),
	    submit_copy(s, COPY_HTOD, ADDRESS(target), source, bytes, false))
STREAM_CALL(cuMemcpyDtoHAsync_v2, 279, 422,
	    (void *target, uint64_t source, size_t bytes, void *stream),
	    submit_copy(s, COPY_DTOH, target, ADDRESS(source), bytes, false))
STREAM_CALL(cuMemcpyDtoDAsync_v2, 281, 423,
	    (uint64_t target, uint64_t source, size_t bytes, void *stream),
	    submit_copy(s, COPY_DTOD, ADDRESS(target), ADDRESS(source), bytes, false))
STREAM_CALL(cuMemcpyPeerAsync, 319, 426,
	    (uint64_t target, void *target_context, uint64_t source, void *source_context,
	     size_t bytes, void *stream),
	    submit_copy(s, COPY_PTOP, ADDRESS(target), ADDRESS(source), bytes, false))
STREAM_CALL(cuMemsetD8Async, 216, 428,
	    (uint64_t target, unsigned char value, size_t count, void *stream),
	    submit_memset(s, count))

/* Defines a copy that blocks, and its _ptds variant. */
#define COPY_CALL(name, id, ptds_id, signature, kind, to, from)                                    \
	EXPORT int name signature                                                                  \
	{                                                                                          \
		CALL(id, #name, submit_copy(stream_of(NULL), kind, to, from, bytes, true));        \
		return SUCCESS;                                                                    \
	}                                                                                          \
	EXPORT int name##_ptds signature                                                           \
	{                                                                                          \
		CALL(ptds_id, #name "_ptds",                                                       \
		     submit_copy(stream_of((void *)PER_THREAD), kind, to, from, bytes, true));     \
		return SUCCESS;                                                                    \
	}

COPY_CALL(cuMemcpyHtoD_v2, 276, 397, (uint64_t target, const void *source, size_t bytes), COPY_HTOD,
	  ADDRESS(target), source)
COPY_CALL(cuMemcpyDtoH_v2, 278, 398, (void *target, uint64_t source, size_t bytes), COPY_DTOH,
	  target, ADDRESS(source))

/* From here on: functions that only tests/gpu/probe.c calls. */
EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal < device_count() ? SUCCESS : 101;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	*free_bytes = *total = (size_t)64 << 30;
	return SUCCESS;
}

EXPORT int cuModuleLoadData(void **module, const void *image)
{
	*module = (void *)image;
	return SUCCESS;
}

EXPORT int cuModuleGetFunction(void **function, void *module, const char *name)
{
	*function = (void *)name;
	return SUCCESS;
}

STREAM_CALL(cuLaunchKernel, 307, 442,
	    (void *function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	     unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
	     void *stream, void **arguments, void **extra),
	    submit_kernel(s, function, grid_x *NS_PER_US))

STREAM_CALL(cuLaunchHostFunc, 527, 528, (void *stream, void (*function)(void *), void *data),
	    (void)s;
	    function(data)) /* called at once; CUDA calls it when the stream gets there */
STREAM_CALL(cuStreamBeginCapture_v2, 539, 540, (void *stream, int mode), capture_begin(s))
STREAM_CALL(cuStreamEndCapture, 497, 498, (void *stream, void **graph), *graph = capture_end(s))
STREAM_CALL(cuGraphLaunch, 514, 515, (void *graph, void *stream), submit_graph(s, graph))

EXPORT int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
	CALL(643, "cuGraphInstantiateWithFlags", graph_instantiate(graph); *executable = graph);
	return SUCCESS;
}

/* Has none of the driver's private tables, so a real libcupti or libcudart gives up here. */
EXPORT int cuGetExportTable(const void **table, const void *id)
{
	*table = NULL;
	return NOT_FOUND;
}

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
			       int *status)
{
	static const char *const endings[] = {"_v2_ptsz", "_v2_ptds", "_ptsz", "_ptds", "_v2", ""};
	/* CUDA needs no dlsym(), so take that of libc, whoever else defines dlsym(). */
	void *(*find)(void *, const char *) =
		(void *(*)(void *, const char *))dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.34");
	void *self;
	Dl_info here;

	*function = NULL;
	if (!dladdr((void *)cuInit, &here) || !find)
		return NOT_FOUND;
	self = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	for (size_t i = flags & PER_THREAD ? 0 : 4; self && !*function && i < 6; i++) {
		char full[128];

		snprintf(full, sizeof(full), "%s%s", name, endings[i]);
		*function = find(self, full);
	}
	if (self)
		dlclose(self);
	if (status)
		*status = *function ? 0 : 1;
	return *function ? SUCCESS : NOT_FOUND;
}

/* Functions for the fake libcudart and libcupti, with names that the real driver lacks. */
EXPORT void fake_tracer_set(const struct tracer *which)
{
	tracer_set(which);
}

EXPORT uint64_t fake_api_enter(enum api_domain domain, uint32_t id, const char *name)
{
	return api_enter(domain, id, name);
}

EXPORT void fake_api_leave(enum api_domain domain, uint32_t id, const char *name, uint64_t begin_ns)
{
	api_leave(domain, id, name, begin_ns);
}

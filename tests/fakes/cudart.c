/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.c - the CUDA runtime, on top of the fake driver. Like the real runtime, it finds the
 * driver by dlopen(), and then looks up cuGetProcAddress_v2 only.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "common.h"
#include "device.h"

enum { SUCCESS = 0, INSUFFICIENT_DRIVER = 35, NO_DEVICE = 100 };
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, BY_ADDRESS = 4 };
enum { PER_THREAD = 2 };

struct dim3 {
	unsigned int x, y, z;
};

static struct {
#define DRIVER(name, signature) int(*name) signature;
#include "driver.def"
#undef DRIVER
	uint64_t (*enter)(enum api_domain domain, uint32_t id, const char *name);
	void (*leave)(enum api_domain domain, uint32_t id, const char *name, uint64_t begin_ns);
} cu;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_error = INSUFFICIENT_DRIVER;

static void start(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int (*find)(const char *name, void **function, int version, uint64_t flags, int *status);

	if (!driver)
		return;
	find = (int (*)(const char *, void **, int, uint64_t, int *))dlsym(driver,
									   "cuGetProcAddress_v2");
	*(void **)&cu.enter = dlsym(driver, "fake_api_enter");
	*(void **)&cu.leave = dlsym(driver, "fake_api_leave");
	if (!find || !cu.enter || !cu.leave)
		return;
#define DRIVER(name, signature) find(#name, (void **)&cu.name, 13000, 0, NULL);
#include "driver.def"
#undef DRIVER
	start_error = cu.cuInit(0);
	if (start_error)
		return;
	cu.cuDevicePrimaryCtxRetain(&context, 0);
	cu.cuCtxSetCurrent(context);
}

#define CALL(id, name, expression)                                                                 \
	do {                                                                                       \
		uint64_t call_begin;                                                               \
		int call_result;                                                                   \
                                                                                                   \
		pthread_once(&once, start);                                                        \
		if (start_error)                                                                   \
			return start_error;                                                        \
		call_begin = cu.enter(API_RUNTIME, id, name);                                      \
		call_result = (expression);                                                        \
		cu.leave(API_RUNTIME, id, name, call_begin);                                       \
		return call_result;                                                                \
	} while (0)

/* Defines a function, and its variant name##ending, in which stream 0 is the thread's own. */
#define STREAM_CALL(name, ending, id, twin_id, signature, expression)                              \
	EXPORT int name signature                                                                  \
	{                                                                                          \
		void *s = stream;                                                                  \
                                                                                                   \
		CALL(id, #name, expression);                                                       \
	}                                                                                          \
	EXPORT int name##ending signature                                                          \
	{                                                                                          \
		void *s = stream ? stream : (void *)PER_THREAD;                                    \
                                                                                                   \
		CALL(twin_id, #name #ending, expression);                                          \
	}

static int launch(const void *function, struct dim3 grid, struct dim3 block, size_t shared,
		  void *stream)
{
	return cu.cuLaunchKernel((void *)function, grid.x, grid.y, grid.z, block.x, block.y,
				 block.z, (unsigned int)shared, stream, NULL, NULL);
}

/* nvcc compiles <<<>>> to the first function or, since version 13, to the second. */
STREAM_CALL(cudaLaunchKernel, _ptsz, 211, 214,
	    (const void *function, struct dim3 grid, struct dim3 block, void **arguments,
	     size_t shared, void *stream),
	    launch(function, grid, block, shared, s))
STREAM_CALL(__cudaLaunchKernel, _ptsz, 505, 506,
	    (const void *function, struct dim3 grid, struct dim3 block, void **arguments,
	     size_t shared, void *stream),
	    launch(function, grid, block, shared, s))
STREAM_CALL(cudaLaunchCooperativeKernel, _ptsz, 269, 270,
	    (const void *function, struct dim3 grid, struct dim3 block, void **arguments,
	     size_t shared, void *stream),
	    launch(function, grid, block, shared, s))

/* the first members of cudaLaunchConfig_t */
struct launch_config {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
};

EXPORT int cudaLaunchKernelExC(const struct launch_config *config, const void *function,
			       void **arguments)
{
	CALL(430, "cudaLaunchKernelExC",
	     launch(function, config->grid, config->block, config->shared, config->stream));
}

EXPORT int cudaLaunchKernelExC_ptsz(const struct launch_config *config, const void *function,
				    void **arguments)
{
	void *s = config->stream ? config->stream : (void *)PER_THREAD;

	CALL(431, "cudaLaunchKernelExC_ptsz",
	     launch(function, config->grid, config->block, config->shared, s));
}

#define DEVICE(address)    ((uint64_t)(uintptr_t)(address))
#define IS_DEVICE(address) (DEVICE(address) >> 40 >= 0x20 && DEVICE(address) >> 40 < 0x30)

static int direction(const void *target, const void *source, int kind)
{
	if (kind != BY_ADDRESS)
		return kind;
	if (!IS_DEVICE(target))
		return DEVICE_TO_HOST;
	return IS_DEVICE(source) ? DEVICE_TO_DEVICE : HOST_TO_DEVICE;
}

static int copy(void *target, const void *source, size_t bytes, int kind, void *stream)
{
	switch (direction(target, source, kind)) {
	case HOST_TO_DEVICE:
		return cu.cuMemcpyHtoDAsync(DEVICE(target), source, bytes, stream);
	case DEVICE_TO_HOST:
		return cu.cuMemcpyDtoHAsync(target, DEVICE(source), bytes, stream);
	case DEVICE_TO_DEVICE:
		return cu.cuMemcpyDtoDAsync(DEVICE(target), DEVICE(source), bytes, stream);
	}
	return 21; /* cudaErrorInvalidMemcpyDirection */
}

static int copy_and_wait(void *target, const void *source, size_t bytes, int kind)
{
	switch (direction(target, source, kind)) {
	case HOST_TO_DEVICE:
		return cu.cuMemcpyHtoD(DEVICE(target), source, bytes);
	case DEVICE_TO_HOST:
		return cu.cuMemcpyDtoH(target, DEVICE(source), bytes);
	}
	return copy(target, source, bytes, kind, NULL);
}

static int copy_batch(void *const *targets, const void *const *sources, const size_t *sizes,
		      size_t count, void *stream)
{
	int result = SUCCESS;

	for (size_t i = 0; !result && i < count; i++)
		result = copy(targets[i], sources[i], sizes[i], BY_ADDRESS, stream);
	return result;
}

EXPORT int cudaMemcpy(void *target, const void *source, size_t bytes, int kind)
{
	CALL(31, "cudaMemcpy", copy_and_wait(target, source, bytes, kind));
}

EXPORT int cudaMemcpy_ptds(void *target, const void *source, size_t bytes, int kind)
{
	CALL(215, "cudaMemcpy_ptds", copy_and_wait(target, source, bytes, kind));
}

STREAM_CALL(cudaMemcpyAsync, _ptsz, 41, 225,
	    (void *target, const void *source, size_t bytes, int kind, void *stream),
	    copy(target, source, bytes, kind, s))
STREAM_CALL(cudaMemcpy2DAsync, _ptsz, 44, 228,
	    (void *target, size_t target_pitch, const void *source, size_t source_pitch,
	     size_t width, size_t height, int kind, void *stream),
	    copy(target, source, width *height, kind, s))
STREAM_CALL(cudaMemcpyBatchAsync, _ptsz, 509, 510,
	    (void *const *targets, const void *const *sources, const size_t *sizes, size_t count,
	     void *attributes, size_t *indices, size_t attribute_count, void *stream),
	    copy_batch(targets, sources, sizes, count, s))
STREAM_CALL(cudaMemsetAsync, _ptsz, 51, 235, (void *target, int value, size_t bytes, void *stream),
	    cu.cuMemsetD8Async(DEVICE(target), (unsigned char)value, bytes, s))
STREAM_CALL(cudaStreamSynchronize, _ptsz, 131, 239, (void *stream), cu.cuStreamSynchronize(s))
STREAM_CALL(cudaStreamQuery, _ptsz, 132, 240, (void *stream), cu.cuStreamQuery(s))
STREAM_CALL(cudaStreamWaitEvent, _ptsz, 147, 247, (void *stream, void *event, unsigned int flags),
	    cu.cuStreamWaitEvent(s, event, flags))
STREAM_CALL(cudaEventRecord, _ptsz, 135, 242, (void *event, void *stream),
	    cu.cuEventRecord(event, s))
STREAM_CALL(cudaLaunchHostFunc, _ptsz, 284, 285,
	    (void *stream, void (*function)(void *), void *data),
	    cu.cuLaunchHostFunc(s, function, data))
STREAM_CALL(cudaStreamBeginCapture, _ptsz, 315, 316, (void *stream, int mode),
	    cu.cuStreamBeginCapture(s, mode))
STREAM_CALL(cudaStreamEndCapture, _ptsz, 319, 320, (void *stream, void **graph),
	    cu.cuStreamEndCapture(s, graph))
STREAM_CALL(cudaGraphLaunch, _ptsz, 311, 312, (void *graph, void *stream),
	    cu.cuGraphLaunch(graph, s))

EXPORT int cudaGraphInstantiate(void **executable, void *graph, unsigned long long flags)
{
	CALL(443, "cudaGraphInstantiate", cu.cuGraphInstantiateWithFlags(executable, graph, flags));
}

EXPORT int cudaDeviceSynchronize(void)
{
	CALL(165, "cudaDeviceSynchronize", cu.cuCtxSynchronize());
}

EXPORT int cudaEventSynchronize(void *event)
{
	CALL(137, "cudaEventSynchronize", cu.cuEventSynchronize(event));
}

EXPORT int cudaEventQuery(void *event)
{
	CALL(138, "cudaEventQuery", cu.cuEventQuery(event));
}

EXPORT int cudaEventElapsedTime(float *ms, void *begin, void *end)
{
	CALL(486, "cudaEventElapsedTime", cu.cuEventElapsedTime(ms, begin, end));
}

EXPORT int cudaEventCreateWithFlags(void **event, unsigned int flags)
{
	CALL(134, "cudaEventCreateWithFlags", cu.cuEventCreate(event, flags));
}

EXPORT int cudaEventCreate(void **event)
{
	return cudaEventCreateWithFlags(event, 0);
}

EXPORT int cudaEventDestroy(void *event)
{
	CALL(136, "cudaEventDestroy", cu.cuEventDestroy(event));
}

EXPORT int cudaStreamCreateWithFlags(void **stream, unsigned int flags)
{
	CALL(198, "cudaStreamCreateWithFlags", cu.cuStreamCreate(stream, flags));
}

EXPORT int cudaStreamCreate(void **stream)
{
	return cudaStreamCreateWithFlags(stream, 0);
}

EXPORT int cudaMalloc(void **address, size_t bytes)
{
	uint64_t device = 0;

	CALL(20, "cudaMalloc",
	     (call_result = cu.cuMemAlloc(&device, bytes), *address = (void *)(uintptr_t)device,
	      call_result));
}

EXPORT int cudaFree(void *address)
{
	CALL(22, "cudaFree", SUCCESS);
}

EXPORT int cudaHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	CALL(27, "cudaHostAlloc", cu.cuMemHostAlloc(address, bytes, flags));
}

EXPORT int cudaFreeHost(void *address)
{
	CALL(26, "cudaFreeHost", cu.cuMemFreeHost(address));
}

EXPORT int cudaGetDeviceCount(int *count)
{
	CALL(3, "cudaGetDeviceCount", cu.cuDeviceGetCount(count));
}

static int select_device(int device)
{
	void *context;
	int result = cu.cuDevicePrimaryCtxRetain(&context, device);

	return result ? result : cu.cuCtxSetCurrent(context);
}

EXPORT int cudaSetDevice(int device)
{
	CALL(16, "cudaSetDevice", select_device(device));
}

static int copy_between(void *target, int to, const void *source, int from, size_t bytes,
			void *stream)
{
	void *to_context = NULL, *from_context = NULL;
	int result = cu.cuDevicePrimaryCtxRetain(&to_context, to);

	if (!result)
		result = cu.cuDevicePrimaryCtxRetain(&from_context, from);
	return result ? result
		      : cu.cuMemcpyPeerAsync((uint64_t)(uintptr_t)target, to_context,
					     (uint64_t)(uintptr_t)source, from_context, bytes,
					     stream);
}

EXPORT int cudaMemcpyPeerAsync(void *target, int to, const void *source, int from, size_t bytes,
			       void *stream)
{
	CALL(161, "cudaMemcpyPeerAsync", copy_between(target, to, source, from, bytes, stream));
}

EXPORT int cudaGetDevice(int *device)
{
	CALL(17, "cudaGetDevice", cu.cuCtxGetDevice(device));
}

EXPORT int cudaDriverGetVersion(int *version)
{
	CALL(1, "cudaDriverGetVersion", cu.cuDriverGetVersion(version));
}

EXPORT int cudaRuntimeGetVersion(int *version)
{
	*version = (int)knob("RUNTIME_VERSION", FAKE_MAJOR * 1000);
	return SUCCESS;
}

EXPORT int cudaGetLastError(void)
{
	return SUCCESS;
}

EXPORT const char *cudaGetErrorString(int error)
{
	return error ? "an error of the fake runtime" : "no error";
}

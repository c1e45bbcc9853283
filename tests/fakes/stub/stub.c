/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stub.c - exports the runtime's functions, each of which only jumps to the one that dlsym() finds
 * in libcudart. libtensorflow_framework.so.2 does the same for the rest of TensorFlow.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "common.h"

struct dim3 {
	unsigned int x, y, z;
};

static void *find(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL);
	return library ? dlsym(library, name) : NULL;
}

#define STUB(name, parameters, arguments)                                                          \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		static int(*found) parameters;                                                     \
                                                                                                   \
		if (!found)                                                                        \
			found = (int(*) parameters)find(#name);                                    \
		return found ? found arguments : 500;                                              \
	}

#define LAUNCH(name)                                                                               \
	STUB(name,                                                                                 \
	     (const void *function, struct dim3 grid, struct dim3 block, void **list,              \
	      size_t shared, void *stream),                                                        \
	     (function, grid, block, list, shared, stream))

LAUNCH(cudaLaunchKernel)
LAUNCH(cudaLaunchKernel_ptsz)
LAUNCH(__cudaLaunchKernel)
STUB(cudaLaunchKernelExC, (const void *config, const void *function, void **list),
     (config, function, list))
STUB(cudaMemcpy, (void *to, const void *from, size_t bytes, int kind), (to, from, bytes, kind))
STUB(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream),
     (to, from, bytes, kind, stream))
STUB(cudaMemsetAsync, (void *to, int value, size_t bytes, void *stream), (to, value, bytes, stream))
STUB(cudaStreamCreateWithFlags, (void **stream, unsigned int flags), (stream, flags))
STUB(cudaStreamQuery, (void *stream), (stream))
STUB(cudaStreamSynchronize, (void *stream), (stream))
STUB(cudaStreamWaitEvent, (void *stream, void *event, unsigned int flags), (stream, event, flags))
STUB(cudaEventCreateWithFlags, (void **event, unsigned int flags), (event, flags))
STUB(cudaEventRecord, (void *event, void *stream), (event, stream))
STUB(cudaEventSynchronize, (void *event), (event))
STUB(cudaEventQuery, (void *event), (event))
STUB(cudaDeviceSynchronize, (void), ())
STUB(cudaMalloc, (void **address, size_t bytes), (address, bytes))
STUB(cudaHostAlloc, (void **address, size_t bytes, unsigned int flags), (address, bytes, flags))
STUB(cudaStreamBeginCapture, (void *stream, int mode), (stream, mode))
STUB(cudaStreamEndCapture, (void *stream, void **graph), (stream, graph))
STUB(cudaGraphInstantiate, (void **executable, void *graph, unsigned long long flags),
     (executable, graph, flags))
STUB(cudaGraphLaunch, (void *graph, void *stream), (graph, stream))
STUB(cudaGraphLaunch_ptsz, (void *graph, void *stream), (graph, stream))

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.c - a training loop that is linked to nothing of CUDA: it finds the driver's functions as
 * XLA, Triton, CuPy and a libcudart within a library do, and says of each what it got.
 *
 * usage: direct HOW FLAGS VERSION STEPS [unified]. HOW: names: dlsym() of each; global, local: the
 * same of RTLD_DEFAULT, with the driver among the global libraries or not; proc, proc2:
 * cuGetProcAddress, with the status or not; again: the one that it finds by itself. FLAGS, VERSION:
 * what that is asked; with names, 2 is for the twins of the thread's own stream; unified: it also
 * copies where only the addresses tell the direction. JSON lines that are the same with and without
 * a preload, but for "as_exported".
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlprof.h>

#include "common.h"

enum { NAMES, GLOBAL, LOCAL, PROC, PROC2, AGAIN };
enum { KERNEL_US = 500, BYTES = 1000000, HALF = 500000, WIDTH = 100, HEIGHT = 1000 };

struct launch_config {
	unsigned int grid[3], block[3], shared;
	void *stream;
};

struct plane {
	size_t from_x, from_y;
	int from_kind;
	const void *from_host;
	uint64_t from_device;
	void *from_array;
	size_t from_pitch, to_x, to_y;
	int to_kind;
	void *to_host;
	uint64_t to_device;
	void *to_array;
	size_t to_pitch, width, height;
};

/* X(name for cuGetProcAddress, ending of the symbol, ending of its twin, parameters) */
#define FUNCTIONS(X)                                                                               \
	X(cuInit, "", "", (unsigned int))                                                          \
	X(cuDevicePrimaryCtxRetain, "", "", (void **, int))                                        \
	X(cuCtxSetCurrent, "", "", (void *))                                                       \
	X(cuMemAlloc, "_v2", "_v2", (uint64_t *, size_t))                                          \
	X(cuMemHostAlloc, "", "", (void **, size_t, unsigned int))                                 \
	X(cuEventCreate, "", "", (void **, unsigned int))                                          \
	X(cuEventRecord, "", "_ptsz", (void *, void *))                                            \
	X(cuStreamBeginCapture, "_v2", "_v2_ptsz", (void *, int))                                  \
	X(cuStreamEndCapture, "", "_ptsz", (void *, void **))                                      \
	X(cuGraphInstantiateWithFlags, "", "", (void **, void *, unsigned long long))              \
	X(cuGetExportTable, "", "", (const void **, const void *))                                 \
	X(cuMemsetD8Async, "", "_ptsz", (uint64_t, unsigned char, size_t, void *))                 \
	X(cuLaunchKernel, "", "_ptsz",                                                             \
	  (const void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,     \
	   unsigned int, unsigned int, void *, void **, void **))                                  \
	X(cuLaunchKernelEx, "", "_ptsz",                                                           \
	  (const struct launch_config *, const void *, void **, void **))                          \
	X(cuLaunchCooperativeKernel, "", "_ptsz",                                                  \
	  (const void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,     \
	   unsigned int, unsigned int, void *, void **))                                           \
	X(cuGraphLaunch, "", "_ptsz", (void *, void *))                                            \
	X(cuMemcpyHtoD, "_v2", "_v2_ptds", (uint64_t, const void *, size_t))                       \
	X(cuMemcpyHtoDAsync, "_v2", "_v2_ptsz", (uint64_t, const void *, size_t, void *))          \
	X(cuMemcpyDtoH, "_v2", "_v2_ptds", (void *, uint64_t, size_t))                             \
	X(cuMemcpyDtoHAsync, "_v2", "_v2_ptsz", (void *, uint64_t, size_t, void *))                \
	X(cuMemcpyAsync, "", "_ptsz", (uint64_t, uint64_t, size_t, void *))                        \
	X(cuMemcpy2DAsync, "_v2", "_v2_ptsz", (const struct plane *, void *))                      \
	X(cuStreamSynchronize, "", "_ptsz", (void *, void *))                                      \
	X(cuEventSynchronize, "", "", (void *))                                                    \
	X(cuCtxSynchronize, "", "", (void *))

static struct {
#define X(name, ending, twin, params) int(*name) params;
	FUNCTIONS(X)
#undef X
} cu;

typedef int proc_fn(const char *, void **, int, uint64_t);
typedef int proc2_fn(const char *, void **, int, uint64_t, int *);

static void *driver;
static long how, version;
static uint64_t flags;
static proc_fn *proc;
static proc2_fn *proc2;

static void *find(const char *name, const char *ending, const char *twin)
{
	void *function = NULL;
	char symbol[64];
	int status = 77;

	if (how <= LOCAL) {
		snprintf(symbol, sizeof(symbol), "%s%s", name, flags & 2 ? twin : ending);
		return dlsym(how == NAMES ? driver : RTLD_DEFAULT, symbol);
	}
	if (how == PROC)
		return proc(name, &function, (int)version, flags) ? NULL : function;
	if (proc2(name, &function, (int)version, flags, &status) || status)
		return NULL;
	return function;
}

/* Of the wanted ones it must not be the exported function, of all others it must. */
static void say(const char *name, void *function)
{
	void *(*plain)(void *, const char *) =
		(void *(*)(void *, const char *))dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.34");
	static const char *const endings[] = {"",         "_ptsz",    "_ptds", "_v2",
					      "_v2_ptsz", "_v2_ptds", NULL};
	char symbol[64];
	int same = 0;

	for (int i = 0; endings[i]; i++) {
		snprintf(symbol, sizeof(symbol), "%s%s", name, endings[i]);
		same |= function && function == plain(driver, symbol);
	}
	printf("{\"name\": \"%s\", \"found\": %d, \"as_exported\": %d}\n", name, function != NULL,
	       same);
}

static void open_driver(void)
{
	/* A library that nobody else sees. */
	if (getenv("DIRECT_LOCAL"))
		dlopen(getenv("DIRECT_LOCAL"), RTLD_NOW | RTLD_LOCAL);
	driver = dlopen("libcuda.so.1", RTLD_NOW | (how == GLOBAL ? RTLD_GLOBAL : 0));
	proc = driver ? (proc_fn *)dlsym(driver, "cuGetProcAddress") : NULL;
	proc2 = driver ? (proc2_fn *)dlsym(driver, "cuGetProcAddress_v2") : NULL;
	if (!proc || !proc2)
		exit(2);
	if (how == AGAIN) {
		void *function = NULL;
		int status;

		if (proc2("cuGetProcAddress", &function, 12000, 0, &status))
			exit(2);
		proc2 = (proc2_fn *)function;
	}
#define X(name, ending, twin, params)                                                              \
	*(void **)&cu.name = find(#name, ending, twin);                                            \
	say(#name, *(void **)&cu.name);                                                            \
	/* Whoever asks twice compares. */                                                         \
	if (find(#name, ending, twin) != *(void **)&cu.name)                                       \
		printf("{\"differs\": \"%s\"}\n", #name);
	FUNCTIONS(X)
#undef X
	say("none", find("cuNoSuchFunction", "", ""));
}

#define TRY(name, ...)                                                                             \
	do {                                                                                       \
		int result;                                                                        \
                                                                                                   \
		errno = 5;                                                                         \
		result = cu.name(__VA_ARGS__);                                                     \
		if (step == 0)                                                                     \
			printf("{\"call\": \"%s\", \"result\": %d, \"errno\": %d}\n", #name,       \
			       result, errno);                                                     \
	} while (0)

static uint64_t device;
static void *host, *event, *graph;
static int unified;

static void open_work(void)
{
	long step = -1;
	void *context, *captured;

	TRY(cuInit, 0);
	TRY(cuDevicePrimaryCtxRetain, &context, 0);
	TRY(cuCtxSetCurrent, context);
	TRY(cuMemAlloc, &device, BYTES);
	TRY(cuMemHostAlloc, &host, BYTES, 0);
	TRY(cuEventCreate, &event, 0);
	TRY(cuStreamBeginCapture, NULL, 0);
	TRY(cuLaunchKernel, "in_a_graph", KERNEL_US, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	TRY(cuStreamEndCapture, NULL, &captured);
	TRY(cuGraphInstantiateWithFlags, &graph, captured, 0);
}

static void work(long step)
{
	const struct launch_config config = {.grid = {KERNEL_US, 1, 1}, .block = {1, 1, 1}};
	const struct plane plane = {.from_kind = 1,
				    .from_host = host,
				    .to_kind = 2,
				    .to_device = device,
				    .width = WIDTH,
				    .height = HEIGHT};

	TRY(cuMemcpyHtoDAsync, device, host, BYTES, NULL);
	TRY(cuMemcpyHtoD, device, host, HALF);
	TRY(cuMemcpy2DAsync, &plane, NULL);
	if (unified)
		TRY(cuMemcpyAsync, device, (uint64_t)(uintptr_t)host, BYTES, NULL);
	TRY(cuMemsetD8Async, device, 0, BYTES, NULL);
	TRY(cuLaunchKernel, "one", KERNEL_US, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	TRY(cuLaunchKernelEx, &config, "two", NULL, NULL);
	TRY(cuLaunchCooperativeKernel, "three", KERNEL_US, 1, 1, 1, 1, 1, 0, NULL, NULL);
	TRY(cuGraphLaunch, graph, NULL);
	TRY(cuEventRecord, event, NULL);
	TRY(cuEventSynchronize, event);
	TRY(cuLaunchKernel, "four", KERNEL_US, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	/* That of "13.1" has another parameter before it, and must get both. */
	if (version > 13000 && how >= PROC)
		TRY(cuStreamSynchronize, (void *)0x1000, NULL);
	else
		TRY(cuStreamSynchronize, NULL, NULL);
	TRY(cuMemcpyDtoHAsync, host, device, 4000, NULL);
	TRY(cuMemcpyDtoH, host, device, 96);
	TRY(cuLaunchKernel, "five", KERNEL_US, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	TRY(cuCtxSynchronize, (void *)0x1000);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = {"names", "global", "local", "proc", "proc2", "again"};

	if (argc < 5)
		return 2;
	while (how < AGAIN && strcmp(ways[how], argv[1]) != 0)
		how++;
	flags = strtoull(argv[2], NULL, 0);
	version = atol(argv[3]);
	unified = argc > 5;
	open_driver();
	if (how == LOCAL)
		return 0; /* with nothing */
	open_work();
	for (long step = 0; step < atol(argv[4]); step++) {
		dlprof_batch_begin();
		sleep_until(now_ns() + 2 * NS_PER_MS);
		dlprof_batch_end(step);
		work(step);
	}
	dlprof_batch_begin();
	dlprof_batch_end(DLPROF_END);
	return 0;
}

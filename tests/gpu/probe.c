/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - does work of known size on a GPU, through functions of the driver only, and without
 * CUDA's headers. Prints a line for each thing done: "what begin end ...", with the host's times in
 * ns of CLOCK_MONOTONIC.
 *
 * usage: probe spins COUNT MIN_US MAX_US | storm COUNT US PAUSE_US | syncs | graph NODES LAUNCHES
 *            | streams COUNT US | copies | fork | late CLIENT | replay NODES SECONDS US
 *            | launches COUNT
 *            [end 0|1|2|3|4: return, _exit, abort, SIGTERM, SIGKILL]
 * PROBE_MODULE: path of the compiled spin.cu. The fakes of tests/fakes do not read the file.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS(F)                                                                               \
	F(cuInit, cuInit, (unsigned int))                                                          \
	F(cuDeviceGet, cuDeviceGet, (int *, int))                                                  \
	F(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **, int))                      \
	F(cuCtxSetCurrent, cuCtxSetCurrent, (void *))                                              \
	F(cuCtxSynchronize, cuCtxSynchronize, (void))                                              \
	F(cuModuleLoadData, cuModuleLoadData, (void **, const void *))                             \
	F(cuModuleGetFunction, cuModuleGetFunction, (void **, void *, const char *))               \
	F(cuStreamCreate, cuStreamCreate, (void **, unsigned int))                                 \
	F(cuStreamSynchronize, cuStreamSynchronize, (void *))                                      \
	F(cuEventCreate, cuEventCreate, (void **, unsigned int))                                   \
	F(cuEventRecord, cuEventRecord, (void *, void *))                                          \
	F(cuEventSynchronize, cuEventSynchronize, (void *))                                        \
	F(cuMemAlloc, cuMemAlloc_v2, (uint64_t *, size_t))                                         \
	F(cuMemHostAlloc, cuMemHostAlloc, (void **, size_t, unsigned int))                         \
	F(cuMemGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                                     \
	F(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))       \
	F(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *, uint64_t, size_t, void *))             \
	F(cuMemcpyDtoH, cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                               \
	F(cuMemsetD8Async, cuMemsetD8Async, (uint64_t, unsigned char, size_t, void *))             \
	F(cuLaunchKernel, cuLaunchKernel,                                                          \
	  (void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,           \
	   unsigned int, unsigned int, void *, void **, void **))                                  \
	F(cuStreamBeginCapture, cuStreamBeginCapture_v2, (void *, int))                            \
	F(cuStreamEndCapture, cuStreamEndCapture, (void *, void **))                               \
	F(cuGraphInstantiate, cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))  \
	F(cuGraphLaunch, cuGraphLaunch, (void *, void *))

static struct {
#define F(name, symbol, signature) int(*name) signature;
	FUNCTIONS(F)
#undef F
} cu;

static void *spin, *stream;
static uint64_t device;
static void *pinned, *pageable;

enum { COPY_BYTES = 8 << 20, NON_BLOCKING = 1, RELAXED = 2, DISABLE_TIMING = 2 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "probe: %s: %d\n", what, result);
	exit(3);
}

#define MUST(call) must(call, #call)

static void said(const char *what, uint64_t begin, const char *more)
{
	printf("%s %llu %llu %s\n", what, (unsigned long long)begin, (unsigned long long)now_ns(),
	       more);
}

static void launch(long us, void *where)
{
	MUST(cu.cuLaunchKernel(spin, (unsigned int)us, 1, 1, 1, 1, 1, 0, where, NULL, NULL));
}

static void *load_module(void)
{
	const char *path = getenv("PROBE_MODULE");
	FILE *file = path ? fopen(path, "rb") : NULL;
	char *data = calloc(1, 1 << 20);
	void *module;

	if (!file || !fread(data, 1, (1 << 20) - 1, file)) {
		fprintf(stderr, "probe: PROBE_MODULE=%s cannot be read\n", path ? path : "");
		exit(2);
	}
	fclose(file);
	MUST(cu.cuModuleLoadData(&module, data));
	return module;
}

static void find(void *driver, const char *symbol, void **function)
{
	*function = dlsym(driver, symbol);
	if (*function)
		return;
	fprintf(stderr, "probe: libcuda has no %s\n", symbol);
	exit(2);
}

static void start(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	uint64_t begin = now_ns();
	int ordinal = 0;

	if (!driver) {
		fprintf(stderr, "probe: %s\n", dlerror());
		exit(2);
	}
#define F(name, symbol, signature) find(driver, #symbol, (void **)&cu.name);
	FUNCTIONS(F)
#undef F
	MUST(cu.cuInit(0));
	said("cuInit", begin, "");
	MUST(cu.cuDeviceGet(&ordinal, 0));
	MUST(cu.cuDevicePrimaryCtxRetain(&context, ordinal));
	MUST(cu.cuCtxSetCurrent(context));
	MUST(cu.cuModuleGetFunction(&spin, load_module(), "spin"));
	MUST(cu.cuStreamCreate(&stream, NON_BLOCKING));
	MUST(cu.cuMemAlloc(&device, COPY_BYTES));
	MUST(cu.cuMemHostAlloc(&pinned, COPY_BYTES, 0));
	pageable = calloc(1, COPY_BYTES);
	launch(10, stream);
	MUST(cu.cuStreamSynchronize(stream));
	said("ready", begin, "");
}

/* Runs kernels one by one, each between two times taken by the host. */
static void do_spins(long count, long low, long high)
{
	for (long i = 0; i < count; i++) {
		const long us = low + (high - low) * i / (count > 1 ? count - 1 : 1);
		const uint64_t begin = now_ns();
		char length[32];

		launch(us, stream);
		MUST(cu.cuStreamSynchronize(stream));
		snprintf(length, sizeof(length), "%ld", us);
		said("spin", begin, length);
	}
}

static void do_storm(long count, long us, long pause_us)
{
	const uint64_t begin = now_ns();
	char text[32];

	for (long i = 0; i < count; i++) {
		launch(us, stream);
		if (pause_us && i % 16 == 15)
			usleep((unsigned int)pause_us * 16);
	}
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)((now_ns() - begin) / (uint64_t)count));
	MUST(cu.cuStreamSynchronize(stream));
	said("storm", begin, text);
}

/* Measures what a launch costs the host. Each 256 launches the queue is emptied, untimed. */
static void do_launches(long count)
{
	const uint64_t begin = now_ns();
	uint64_t host_ns = 0;
	char text[32];

	for (long i = 0; i < count; i += 256) {
		const uint64_t from = now_ns();

		for (long k = 0; k < 256; k++)
			launch(1, stream);
		host_ns += now_ns() - from;
		MUST(cu.cuStreamSynchronize(stream));
	}
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(host_ns / (uint64_t)((count + 255) / 256 * 256)));
	said("launches", begin, text);
}

/* Waits for the GPU in all ways that the host has, to see which of them CUPTI records. */
static void do_syncs(void)
{
	static const char *const names[] = {"stream",        "event",       "context",
					    "dtoh_pageable", "dtoh_pinned", "dtoh_blocking",
					    "htod_pageable"};
	void *event;

	MUST(cu.cuEventCreate(&event, DISABLE_TIMING));
	for (size_t i = 0; i < 7; i++) {
		uint64_t begin;

		launch(3000, stream);
		MUST(cu.cuEventRecord(event, stream));
		begin = now_ns();
		switch (i) {
		case 0:
			MUST(cu.cuStreamSynchronize(stream));
			break;
		case 1:
			MUST(cu.cuEventSynchronize(event));
			break;
		case 2:
			MUST(cu.cuCtxSynchronize());
			break;
		case 3:
			MUST(cu.cuMemcpyDtoHAsync(pageable, device, 4, stream));
			break;
		case 4:
			MUST(cu.cuMemcpyDtoHAsync(pinned, device, 4, stream));
			break;
		case 5:
			MUST(cu.cuMemcpyDtoH(pageable, device, 4));
			break;
		case 6:
			MUST(cu.cuMemcpyHtoDAsync(device, pageable, COPY_BYTES, stream));
			break;
		}
		said(names[i], begin, "sync");
		MUST(cu.cuCtxSynchronize());
		usleep(2000);
	}
}

static void *make_graph(long nodes, long us)
{
	void *graph, *executable;

	MUST(cu.cuStreamBeginCapture(stream, RELAXED));
	for (long i = 0; i < nodes; i++) {
		if (i % 20 == 18)
			MUST(cu.cuMemcpyHtoDAsync(device, pinned, 4096, stream));
		else if (i % 20 == 19)
			MUST(cu.cuMemsetD8Async(device, 0, 4096, stream));
		else
			launch(us, stream);
	}
	MUST(cu.cuStreamEndCapture(stream, &graph));
	MUST(cu.cuGraphInstantiate(&executable, graph, 0));
	return executable;
}

static void do_graph(long nodes, long launches)
{
	void *graph = make_graph(nodes, 20);

	for (long i = 0; i < launches; i++) {
		const uint64_t begin = now_ns();

		MUST(cu.cuGraphLaunch(graph, stream));
		MUST(cu.cuStreamSynchronize(stream));
		said("graph", begin, "");
	}
}

/* Makes as many records as possible for `seconds`. Prints a line each second. */
static void do_replay(long nodes, long seconds, long us)
{
	const uint64_t begin = now_ns();
	void *graph = make_graph(nodes, us);
	uint64_t next = begin;
	long launches = 0;

	while (now_ns() - begin < (uint64_t)seconds * 1000000000) {
		MUST(cu.cuGraphLaunch(graph, stream));
		if (++launches % 8 == 0)
			MUST(cu.cuStreamSynchronize(stream));
		if (now_ns() >= next) {
			size_t free_bytes, total;
			char text[64];

			MUST(cu.cuMemGetInfo(&free_bytes, &total));
			snprintf(text, sizeof(text), "%ld %zu", launches, free_bytes);
			said("replay", begin, text);
			fflush(stdout);
			next += 1000000000;
		}
	}
	MUST(cu.cuStreamSynchronize(stream));
	printf("launches %ld nodes %ld\n", launches, nodes);
}

/* Runs on each stream a kernel that is us / 4 longer than on the stream before, then one of us. */
static void do_streams(long count, long us)
{
	void *streams[16];
	uint64_t begin;

	for (long i = 0; i < count; i++)
		MUST(cu.cuStreamCreate(&streams[i], NON_BLOCKING));
	for (int round = 0; round < 50; round++) {
		begin = now_ns();
		for (long i = 0; i < count; i++) {
			launch(us / 4 * (i + 1), streams[i]);
			launch(us, streams[i]);
		}
		MUST(cu.cuCtxSynchronize());
		said("streams", begin, "");
	}
}

static void do_copies(void)
{
	static const size_t sizes[] = {1, 4096, 65536, 65537, 1000003, COPY_BYTES};
	char text[32];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int pin = 0; pin < 2; pin++) {
			const uint64_t begin = now_ns();

			MUST(cu.cuMemcpyHtoDAsync(device, pin ? pinned : pageable, sizes[i],
						  stream));
			MUST(cu.cuStreamSynchronize(stream));
			snprintf(text, sizeof(text), "%zu", sizes[i]);
			said(pin ? "pinned" : "pageable", begin, text);
		}
	}
}

static void do_fork(void)
{
	const uint64_t begin = now_ns();
	pid_t child = fork();
	int status;
	char text[32];

	if (!child)
		exit(0);
	waitpid(child, &status, 0);
	snprintf(text, sizeof(text), "%d", status);
	said("child", begin, text);
}

/* Loads the tracer `client` only after the context and a graph were made. */
static void do_late(const char *client)
{
	void *graph = make_graph(40, 20), *library = dlopen(client, RTLD_NOW);
	int (*initialize)(void) =
		library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (!initialize) {
		fprintf(stderr, "probe: %s\n", dlerror());
		exit(2);
	}
	printf("late %d\n", initialize());
	do_spins(20, 50, 50);
	for (int i = 0; i < 5; i++)
		MUST(cu.cuGraphLaunch(graph, stream));
	MUST(cu.cuStreamSynchronize(stream));
	do_graph(40, 5);
}

static void end(long how)
{
	static const int signals[] = {0, 0, SIGABRT, SIGTERM, SIGKILL};

	fflush(stdout);
	if (how == 1)
		_exit(0);
	if (how == 2)
		abort();
	if (how > 2)
		raise(signals[how]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long a = argc > 2 ? atol(argv[2]) : 0, b = argc > 3 ? atol(argv[3]) : 0;
	long c = argc > 4 ? atol(argv[4]) : 0;

	start();
	if (!strcmp(what, "spins"))
		do_spins(a, b, c);
	else if (!strcmp(what, "storm"))
		do_storm(a, b, c);
	else if (!strcmp(what, "launches"))
		do_launches(a);
	else if (!strcmp(what, "syncs"))
		do_syncs();
	else if (!strcmp(what, "graph"))
		do_graph(a, b);
	else if (!strcmp(what, "replay"))
		do_replay(a, b, c ? c : 20);
	else if (!strcmp(what, "streams"))
		do_streams(a, b);
	else if (!strcmp(what, "copies"))
		do_copies();
	else if (!strcmp(what, "fork"))
		do_fork();
	else if (!strcmp(what, "late") && argc > 2)
		do_late(argv[2]);
	else
		fprintf(stderr, "probe: see the top of probe.c\n");
	if (argc > 2 && !strcmp(argv[argc - 2], "end"))
		end(atol(argv[argc - 1]));
	return 0;
}

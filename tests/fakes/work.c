/* SPDX-License-Identifier: Apache-2.0 */
/* work.c - see work.h. Calls functions of the runtime or driver by name, as compiled code does. */
#include "work.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

struct dim3 {
	unsigned int x, y, z;
};

struct launch_config {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
	void *attributes;
	unsigned int attribute_count;
};

int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaLaunchKernel_ptsz(const void *, struct dim3, struct dim3, void **, size_t, void *);
int __cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaLaunchKernelExC(const struct launch_config *, const void *, void **);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemsetAsync(void *, int, size_t, void *);
int cudaStreamCreateWithFlags(void **, unsigned int);
int cudaStreamQuery(void *);
int cudaStreamSynchronize(void *);
int cudaStreamWaitEvent(void *, void *, unsigned int);
int cudaEventCreateWithFlags(void **, unsigned int);
int cudaEventRecord(void *, void *);
int cudaEventSynchronize(void *);
int cudaEventQuery(void *);
int cudaDeviceSynchronize(void);
int cudaMalloc(void **, size_t);
int cudaHostAlloc(void **, size_t, unsigned int);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaGraphLaunch_ptsz(void *, void *);

int cuInit(unsigned int);
int cuDevicePrimaryCtxRetain(void **, int);
int cuCtxSetCurrent(void *);
int cuLaunchKernel(void *, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
		   unsigned int, unsigned int, void *, void **, void **);
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
int cuMemsetD8Async(uint64_t, unsigned char, size_t, void *);
int cuEventQuery(void *);
int cuStreamSynchronize(void *);
int cuCtxSynchronize(void);
int cuGraphLaunch(void *, void *);

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, BY_ADDRESS = 4, NON_BLOCKING = 1, MAX_STREAMS = 8 };
enum sync {
	SYNC_NONE,
	SYNC_OF_STREAM,
	SYNC_OF_EVENT,
	SYNC_OF_DEVICE,
	SYNC_ITEM,
	SYNC_LATE,
	SYNC_COPY,
	SYNC_SPIN,
	SYNC_NAP,
	SYNC_WORK
};
enum launch { LAUNCH_OLD, LAUNCH_NEW, LAUNCH_EX, LAUNCH_THREAD };

/* Keys of a plan, with defaults. Times are in microseconds, sizes in bytes, enums are numbers. */
static struct {
	const char *key;
	long value;
} plan[] = {
	{"steps", 20},       {"wait", 5000},       {"think", 0},
	{"h2d", 2000000},    {"h2d_count", 1},     {"pinned", 1},
	{"kernels", 10},     {"kernel", 300},      {"streams", 1},
	{"graph", 0},        {"prefetch", 0},      {"accumulate", 1},
	{"eval_every", 0},   {"memset", 4096},     {"sync", SYNC_OF_STREAM},
	{"driver", 0},       {"launch", 0},        {"marks", 1},
	{"fork_at", -1},     {"exec", 0},          {"end", 0},
	{"kineto_from", -1}, {"kineto_to", -1},    {"kineto_warmup", 0},
	{"kineto_count", 1}, {"kineto_period", 0}, {"kineto_sync", 0},
	{"flush_at", -1},    {"load_reads", 0},    {"random_wait", 0},
	{"idle_threads", 0}, {"print", 1},         {"random_kernel", 0},
	{"quiet_ms", 0},     {"helpers", 0},       {"backward", 0},
	{"by_address", 0},   {"collective", 0},    {"helper", 700},
	{"poll", 0},         {"long_names", 0},    {"gpu_loader", 0},
	{"named", 10},
};

static void *streams[MAX_STREAMS], *copy_stream, *copied, *step_end[2], *graph_exec;
static void *host, *device, *loss_host, *loss_device;

static const char *const kernel_names[] = {
	"sm90_gemm_bf16_128x128_nn",
	"elementwise_add_relu_kernel",
	"batch_norm_forward",
	"sm90_gemm_bf16_128x64_tn",
};
/* Kernel names as CUPTI gives them: of NCCL before 2.18, of NCCL today, of NCCL with symmetric
 * memory; the last one only looks similar. */
static const char *const collective_names[] = {
	"_Z38ncclKernel_AllReduce_RING_LL_Sum_floatP11ncclDevCommmP8ncclWork",
	"_Z32ncclDevKernel_AllReduce_f32_RING24ncclDevKernelArgsStorageILm4096EE",
	"_Z32ncclSymkDevKernel_AllGather_LLMC21ncclSymkDevWorkArgs4K",
	"_Z14pad_ncclone_opPKf",
};
/* Kernel names in DALI 2.4 and its copies of nvJPEG and CV-CUDA; below, one without a namespace. */
static const char *const loader_names[] = {
	"_ZN6nvjpeg15DecodeSingleGPU23dcPrefixSumReadUpKernelE8NppiSizemS1_PKsPsS4_j",
	"_ZN4dali7kernels10resampling30BatchedSeparableResampleKernelILi2EfhEEviPKNS1_"
	"10SampleDescIXT_EEEPKNS0_9BlockDescIXT_EEE",
	"_ZN10nvimgcodec13ConvertKernelIaaNS_20RGB_to_BGR_ConverterIaaEEEEvNS_7SurfaceILi2ET_"
	"EENS3_ILi2ET0_EE",
};
static const char unnamed_loader_name[] = "mega_fused_hist_clip_cdf_lut_kernel";
/* Two names that are equal for more than 200 characters. */
static const char *const long_names[] = {
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffZZZNS0_15add_"
	"kernel_"
	"cudaERNS_18TensorIteratorBaseERKN3c106ScalarEENKUlvE_clEvENKUlvE0_clEvEUlffE_"
	"EESt5arrayIPcLm3EEEE"
	"viT0_T1_",
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffZZZNS0_15add_"
	"kernel_"
	"cudaERNS_18TensorIteratorBaseERKN3c106ScalarEENKUlvE_clEvENKUlvE0_clEvEUlffE_"
	"EESt5arrayIPcLm2EEEE"
	"viT0_T1_",
};
static const char optimizer_name[] = "multi_tensor_apply_kernel_adam";

long work_value(const char *key)
{
	for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
		if (!strcmp(plan[i].key, key))
			return plan[i].value;
	fprintf(stderr, "work: no such key: %s\n", key);
	exit(2);
}

static void read_plan(const char *text)
{
	while (*text) {
		const size_t length = strcspn(text, "=");
		size_t found = 0;

		for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++) {
			if (strncmp(plan[i].key, text, length) || plan[i].key[length])
				continue;
			plan[i].value = strtol(text + length + 1, NULL, 0);
			found = 1;
		}
		if (!found) {
			fprintf(stderr, "work: what is '%s'?\n", text);
			exit(2);
		}
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

static void must(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "work: %s: %d\n", what, result);
	exit(3);
}

#define MUST(call) must(call, #call)

static bool by_driver(void)
{
	return work_value("driver");
}

static void launch(const char *name, long us, void *stream)
{
	const struct dim3 grid = {(unsigned int)us, 1, 1}, block = {128, 1, 1};
	const struct launch_config config = {grid, block, 0, stream, NULL, 0};

	if (by_driver()) {
		MUST(cuLaunchKernel((void *)name, grid.x, 1, 1, 128, 1, 1, 0, stream, NULL, NULL));
		return;
	}
	switch ((enum launch)work_value("launch")) {
	case LAUNCH_OLD:
		MUST(cudaLaunchKernel(name, grid, block, NULL, 0, stream));
		break;
	case LAUNCH_NEW:
		MUST(__cudaLaunchKernel(name, grid, block, NULL, 0, stream));
		break;
	case LAUNCH_EX:
		MUST(cudaLaunchKernelExC(&config, name, NULL));
		break;
	case LAUNCH_THREAD:
		MUST(cudaLaunchKernel_ptsz(name, grid, block, NULL, 0, stream));
		break;
	}
}

/* Launches kernels of a step; kernel k goes to stream k modulo the number of streams. */
static void launch_all(long count, long us)
{
	for (long k = 0; k < count; k++)
		launch(work_value("long_names") ? long_names[k % 2] : kernel_names[k % 4], us,
		       streams[k % work_value("streams")]);
}

static long kernel_us(long step)
{
	const long random = work_value("random_kernel");

	return work_value("kernel") + (random ? step * 7919 % random : 0);
}

/*
 * Like autograd, another thread launches the second half of the kernels, `backward` microseconds
 * later, while the first thread waits.
 */
static sem_t backward_begins, backward_ends;

static void *go_backward(void *unused)
{
	const long count = work_value("kernels");

	for (;;) {
		sem_wait(&backward_begins);
		launch_all(count - count / 2, work_value("kernel"));
		sem_post(&backward_ends);
	}
	return unused;
}

static void launch_step(long step)
{
	const long count = work_value("kernels");

	if (work_value("collective"))
		launch(collective_names[work_value("collective") - 1], work_value("kernel"),
		       streams[0]);
	if (!work_value("backward")) {
		launch_all(count, kernel_us(step));
		return;
	}
	launch_all(count / 2, kernel_us(step));
	sleep_until(now_ns() + (uint64_t)work_value("backward") * NS_PER_US);
	sem_post(&backward_begins);
	sem_wait(&backward_ends);
}

static void capture(void)
{
	void *graph;

	MUST(cudaStreamBeginCapture(streams[0], 0));
	launch_all(work_value("kernels"), work_value("kernel"));
	if (work_value("memset"))
		MUST(cudaMemsetAsync(device, 0, (size_t)work_value("memset"), streams[0]));
	MUST(cudaStreamEndCapture(streams[0], &graph));
	MUST(cudaGraphInstantiate(&graph_exec, graph, 0));
}

/* Runs in a thread with a stream of its own: launches, waits and copies until the program ends. */
static void *help(void *unused)
{
	void *stream, *mine = calloc(1, 4);

	(void)unused;
	MUST(cudaStreamCreateWithFlags(&stream, NON_BLOCKING));
	for (;;) {
		launch("helper", work_value("helper"), stream);
		MUST(cudaStreamSynchronize(stream));
		launch("helper", 400, stream);
		MUST(cudaMemcpyAsync(mine, loss_device, 4, DEVICE_TO_HOST, stream));
	}
	return NULL;
}

/*
 * Acts like a GPU loader: its thread keeps the device busy on a stream of its own. Kernels take
 * `gpu_loader` microseconds, and `named` of ten have the name of a loader's kernel.
 */
static void *load_batches(void *unused)
{
	void *stream;

	(void)unused;
	MUST(cudaStreamCreateWithFlags(&stream, NON_BLOCKING));
	for (long k = 0;; k++) {
		launch(k % 10 < work_value("named") ? loader_names[k % 3] : unnamed_loader_name,
		       work_value("gpu_loader"), stream);
		if (k % 4 == 3)
			MUST(cudaStreamSynchronize(stream));
	}
	return NULL;
}

void work_open(const char *text)
{
	pthread_t helper;
	size_t bytes;

	read_plan(text);
	bytes = (size_t)work_value("h2d");
	if (by_driver()) {
		void *context;

		MUST(cuInit(0));
		MUST(cuDevicePrimaryCtxRetain(&context, 0));
		MUST(cuCtxSetCurrent(context));
	}
	MUST(cudaMalloc(&device, bytes));
	MUST(cudaMalloc(&loss_device, 4));
	if (work_value("pinned"))
		MUST(cudaHostAlloc(&host, bytes, 0));
	else
		host = calloc(1, bytes);
	loss_host = calloc(1, 4);
	/* streams[0] stays NULL: the default stream, which torch uses. */
	for (long i = 1; i < work_value("streams"); i++)
		MUST(cudaStreamCreateWithFlags(&streams[i], NON_BLOCKING));
	if (work_value("graph"))
		MUST(cudaStreamCreateWithFlags(&streams[0], 0));
	MUST(cudaStreamCreateWithFlags(&copy_stream, NON_BLOCKING));
	MUST(cudaEventCreateWithFlags(&copied, 2));
	MUST(cudaEventCreateWithFlags(&step_end[0], 2));
	MUST(cudaEventCreateWithFlags(&step_end[1], 2));
	if (work_value("graph"))
		capture();
	if (work_value("backward")) {
		sem_init(&backward_begins, 0, 0);
		sem_init(&backward_ends, 0, 0);
		must(pthread_create(&helper, NULL, go_backward, NULL), "pthread_create");
	}
	if (work_value("gpu_loader"))
		must(pthread_create(&helper, NULL, load_batches, NULL), "pthread_create");
	for (long i = 0; i < work_value("helpers"); i++)
		must(pthread_create(&helper, NULL, help, NULL), "pthread_create");
}

static void copy_to_device(size_t bytes, void *stream)
{
	const int kind = work_value("by_address") ? BY_ADDRESS : HOST_TO_DEVICE;

	if (by_driver())
		MUST(cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)device, host, bytes, stream));
	else
		MUST(cudaMemcpyAsync(device, host, bytes, kind, stream));
}

enum { NOT_READY = 600 };

/* Works on the CPU for 2 ms, however long that takes. */
static void compute(void)
{
	struct timespec used;
	long begin_us;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	begin_us = used.tv_sec * 1000000 + used.tv_nsec / 1000;
	while (used.tv_sec * 1000000 + used.tv_nsec / 1000 < begin_us + 2000)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
}

static void synchronize(long step)
{
	switch ((enum sync)work_value("sync")) {
	case SYNC_NONE:
		break;
	case SYNC_OF_STREAM:
		for (long i = 0; i < work_value("streams"); i++)
			MUST(by_driver() ? cuStreamSynchronize(streams[i])
					 : cudaStreamSynchronize(streams[i]));
		break;
	case SYNC_OF_EVENT:
		MUST(cudaEventRecord(step_end[0], streams[0]));
		MUST(cudaEventSynchronize(step_end[0]));
		break;
	case SYNC_OF_DEVICE:
		MUST(by_driver() ? cuCtxSynchronize() : cudaDeviceSynchronize());
		break;
	case SYNC_ITEM: /* like loss.item(), which waits within the copy */
		MUST(cudaMemcpyAsync(loss_host, loss_device, 4, DEVICE_TO_HOST, streams[0]));
		MUST(cudaStreamSynchronize(streams[0]));
		break;
	case SYNC_COPY: /* only the copy waits */
		MUST(cudaMemcpyAsync(loss_host, loss_device, 4, DEVICE_TO_HOST, streams[0]));
		break;
	case SYNC_SPIN: /* asks again and again */
		MUST(cudaEventRecord(step_end[0], streams[0]));
		while (by_driver() ? cuEventQuery(step_end[0]) == NOT_READY
				   : cudaEventQuery(step_end[0]) == NOT_READY)
			;
		break;
	case SYNC_NAP: /* sleeps before it asks again */
		while (cudaStreamQuery(streams[0]) == NOT_READY)
			sleep_until(now_ns() + NS_PER_MS);
		break;
	case SYNC_WORK: /* works before it asks again */
		while (cudaStreamQuery(streams[0]) == NOT_READY)
			compute();
		break;
	case SYNC_LATE: /* the host runs one step ahead of the GPU */
		MUST(cudaEventRecord(step_end[step % 2], streams[0]));
		if (step)
			MUST(cudaEventSynchronize(step_end[(step + 1) % 2]));
		break;
	}
}

static bool last_of_accumulation(long step)
{
	return (step + 1) % work_value("accumulate") == 0;
}

void work_step(long step)
{
	const long copies = work_value("h2d_count");
	const size_t bytes = (size_t)work_value("h2d");
	const bool prefetch = work_value("prefetch");

	for (long i = 0; i < copies; i++)
		copy_to_device(bytes / (size_t)copies, prefetch ? copy_stream : streams[0]);
	if (prefetch) {
		MUST(cudaEventRecord(copied, copy_stream));
		MUST(cudaStreamWaitEvent(streams[0], copied, 0));
	}
	if (work_value("graph")) {
		if (by_driver())
			MUST(cuGraphLaunch(graph_exec, streams[0]));
		else if (work_value("launch") == LAUNCH_THREAD)
			MUST(cudaGraphLaunch_ptsz(graph_exec, streams[0]));
		else
			MUST(cudaGraphLaunch(graph_exec, streams[0]));
	} else {
		if (work_value("memset"))
			MUST(by_driver()
				     ? cuMemsetD8Async((uint64_t)(uintptr_t)device, 0,
						       (size_t)work_value("memset"), streams[0])
				     : cudaMemsetAsync(device, 0, (size_t)work_value("memset"),
						       streams[0]));
		launch_step(step);
	}
	for (long i = 0; i < work_value("poll"); i++)
		cudaStreamQuery(streams[0]);
	if (last_of_accumulation(step)) {
		if (work_value("accumulate") > 1)
			launch(optimizer_name, work_value("kernel"), streams[0]);
		synchronize(step);
	}
}

void work_evaluate(void)
{
	launch_all(2 * work_value("kernels"), work_value("kernel"));
	MUST(cudaStreamSynchronize(streams[0]));
}

void work_close(void)
{
	MUST(cudaDeviceSynchronize());
}

long work_kernel_count(long step)
{
	return work_value("kernels") + (work_value("collective") > 0) +
	       (work_value("accumulate") > 1 && last_of_accumulation(step));
}

uint64_t work_kernel_ns(long step)
{
	const long others = work_kernel_count(step) - work_value("kernels");

	return (uint64_t)(work_value("kernels") * kernel_us(step) +
			  others * work_value("kernel")) *
	       NS_PER_US;
}

uint64_t work_h2d_bytes(void)
{
	return (uint64_t)work_value("h2d");
}

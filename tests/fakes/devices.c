/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - a training on several devices in one process, with batches marked by dlprof.h.
 *
 * usage: devices KEY=VALUE,... shape=0: the host feeds each device (DataParallel of batches from
 * the host); 1: it feeds the first, which feeds the others by peer copies; 2: a pipeline, where
 * each device passes on what it computed; 3: as 0, with a thread for each device. skew=P: each
 * device takes P % longer than the one before. wait_all=0: the host waits for the first device
 * only.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlprof.h>

#include "common.h"

struct dim3 {
	unsigned int x, y, z;
};

int cudaSetDevice(int);
int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, void *);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemcpyPeerAsync(void *, int, const void *, int, size_t, void *);
int cudaDeviceSynchronize(void);
int cudaMalloc(void **, size_t);
int cudaHostAlloc(void **, size_t, unsigned int);
int cudaEventCreateWithFlags(void **, unsigned int);
int cudaEventRecord(void *, void *);
int cudaStreamWaitEvent(void *, void *, unsigned int);

enum { MOST = 8, HOST_TO_DEVICE = 1 };
enum shape { SCATTER, FIRST, PIPELINE, THREADS };

static struct {
	const char *key;
	long value;
} plan[] = {
	{"devices", 2},   {"shape", 0},    {"steps", 20}, {"wait", 4000},
	{"kernels", 5},   {"kernel", 300}, {"skew", 0},   {"h2d", 1000000},
	{"peer", 500000}, {"wait_all", 1}, {"marks", 1},  {"scalar", 0},
};

static void *host, *memory[MOST], *arrived[MOST];
static pthread_barrier_t begun, done;

static long value_of(const char *key)
{
	for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
		if (!strcmp(plan[i].key, key))
			return plan[i].value;
	abort();
}

static void read_plan(const char *text)
{
	for (; *text; text += strcspn(text, ","), text += *text == ',')
		for (size_t i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
			if (!strncmp(plan[i].key, text, strcspn(text, "=")) &&
			    !plan[i].key[strcspn(text, "=")])
				plan[i].value = strtol(text + strcspn(text, "=") + 1, NULL, 0);
}

static void feed(int device)
{
	cudaMemcpyAsync(memory[device], host, (size_t)value_of("h2d"), HOST_TO_DEVICE, NULL);
}

static void compute(int device)
{
	const long us = value_of("kernel") * (100 + device * value_of("skew")) / 100;
	const struct dim3 grid = {(unsigned int)us, 1, 1}, block = {128, 1, 1};

	for (long i = 0; i < value_of("kernels"); i++)
		cudaLaunchKernel("forward_backward", grid, block, NULL, 0, NULL);
}

/* Copies from device `from` to `device`, once `from` has done what it has queued so far. */
static void pass_on(int from, int device)
{
	cudaSetDevice(from);
	cudaEventRecord(arrived[device], NULL);
	cudaSetDevice(device);
	cudaStreamWaitEvent(NULL, arrived[device], 0);
	cudaMemcpyPeerAsync(memory[device], device, memory[from], from, (size_t)value_of("peer"),
			    NULL);
}

static void *run_device(void *number)
{
	const int device = (int)(intptr_t)number;

	cudaSetDevice(device);
	for (long step = 0; step < value_of("steps"); step++) {
		pthread_barrier_wait(&begun);
		feed(device);
		compute(device);
		cudaDeviceSynchronize();
		pthread_barrier_wait(&done);
	}
	return NULL;
}

static void step_of(enum shape shape, int count)
{
	if (shape == THREADS) {
		pthread_barrier_wait(&begun);
		pthread_barrier_wait(&done);
		return;
	}
	for (int i = 0; i < count; i++) {
		if (i && shape == FIRST)
			pass_on(0, i);
		else if (i && shape == PIPELINE)
			pass_on(i - 1, i);
		cudaSetDevice(i);
		if (!i || shape == SCATTER)
			feed(i);
		else if (value_of("scalar")) /* a small copy, such as of a learning rate */
			cudaMemcpyAsync(memory[i], host, 64, HOST_TO_DEVICE, NULL);
		if (shape != FIRST || i)
			compute(i);
	}
	/* The first device computes only after it has fed the others. */
	cudaSetDevice(0);
	if (shape == FIRST)
		compute(0);
	for (int i = value_of("wait_all") ? count - 1 : 0; i >= 0; i--) {
		cudaSetDevice(i);
		cudaDeviceSynchronize();
	}
}

int main(int argc, char **argv)
{
	enum shape shape;
	pthread_t threads[MOST];
	int count;

	read_plan(argc > 1 ? argv[1] : "");
	shape = (enum shape)value_of("shape");
	count = (int)value_of("devices");
	cudaHostAlloc(&host, (size_t)value_of("h2d"), 0);
	for (int i = 0; i < count; i++) {
		cudaSetDevice(i);
		cudaMalloc(&memory[i], (size_t)value_of("h2d"));
		cudaEventCreateWithFlags(&arrived[i], 2);
	}
	pthread_barrier_init(&begun, NULL, (unsigned int)count + 1);
	pthread_barrier_init(&done, NULL, (unsigned int)count + 1);
	for (int i = 0; shape == THREADS && i < count; i++)
		pthread_create(&threads[i], NULL, run_device, (void *)(intptr_t)i);
	for (long step = 0; step < value_of("steps"); step++) {
		if (value_of("marks"))
			dlprof_batch_begin();
		sleep_until(now_ns() + (uint64_t)value_of("wait") * NS_PER_US);
		if (value_of("marks"))
			dlprof_batch_end(step);
		step_of(shape, count);
	}
	if (value_of("marks")) {
		dlprof_batch_begin();
		dlprof_batch_end(DLPROF_END);
	}
	for (int i = 0; shape == THREADS && i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++) {
		cudaSetDevice(i);
		cudaDeviceSynchronize();
	}
	return 0;
}

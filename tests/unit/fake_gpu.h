/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_gpu.h - what GPUs would record of programs of known shape: a host that launches, and streams
 * that run what they are given in order.
 */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include "analysis/rhythm.h"

#define FAKE_GPU_MOST    ((size_t)1100000)
#define FAKE_GPU_US      INT64_C(1000)
#define FAKE_GPU_COMPUTE 7    /* the stream */
#define FAKE_GPU_ANY     1000 /* names of kernels that are not a training's begin here */

extern struct fake_gpu {
	struct rhythm_op *ops;
	size_t op_count;
	int64_t *ends; /* when the last operation of each step began */
	size_t end_count;
	int64_t now_ns; /* the host's */
	bool named;     /* the optimizer can be told by its name */
} fake_gpu;

/* Forgets all operations; what follows depends on the seed alone. */
void fake_gpu_begin(uint64_t seed);

uint64_t fake_gpu_random(void);
int fake_gpu_pick(int most); /* 0 to most - 1 */

/* The host launches it; it runs when its stream is free. */
void fake_gpu_emit(enum rhythm_kind kind, int id, uint64_t bytes, int stream, int us);
void fake_gpu_kernel(int id, int us);
void fake_gpu_input(int stream);
void fake_gpu_read_back(void); /* as loss.item() does */

/* What a program does first: weights to the device, tuning. */
void fake_gpu_start(void);

/* Trainings. */
#define FAKE_GPU_SHAPES 7
extern const struct fake_gpu_shape {
	const char *name;
	void (*run)(int steps);
	int inner;   /* rhythms in a step */
	bool either; /* without the optimizer's name the inner one is as good */
} fake_gpu_shapes[FAKE_GPU_SHAPES];

#endif

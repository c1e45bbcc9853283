/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - does a training step's work on the GPU, by a plan "KEY=VALUE,...". This is a library,
 * because dlprof observes calls of the runtime by libraries linked to it, such as libtorch_cuda.
 */
#pragma once

#include <stdint.h>

/* Reads a plan; work.c has the keys and defaults. An unknown key ends the program. */
void work_open(const char *plan);
long work_value(const char *key);
void work_step(long step);
/* Runs kernels between two steps, like an evaluation, for which no batch is fetched. */
void work_evaluate(void);
/* Waits until the GPU has done everything. */
void work_close(void);
/* Return what a step has by plan: kernel time, kernels, bytes copied to the device. */
uint64_t work_kernel_ns(long step);
long work_kernel_count(long step);
uint64_t work_h2d_bytes(void);

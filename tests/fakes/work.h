/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what one training step gives a GPU to do, by a plan "key=value,...". A library, since
 * the preload sees the runtime's calls of a library that is linked to it, as libtorch_cuda is.
 */
#pragma once

#include <stdint.h>

/* Keys and defaults: work.c. A key that is not there ends the program. */
void work_open(const char *plan);
long work_value(const char *key);
void work_step(long step);
/* Kernels between two steps, of which nobody fetches a batch. */
void work_evaluate(void);
/* The end of the training: nothing runs any more. */
void work_close(void);
/* What a step adds by plan, whatever the clock says. */
uint64_t work_kernel_ns(long step);
long work_kernel_count(long step);
uint64_t work_h2d_bytes(void);

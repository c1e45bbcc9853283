/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_join.h - joins what GPUs did with the batches in whose steps they did it.
 *
 * Operations come out of order and seconds late, so a step is measured only when the process said
 * that all operations before the step's end were sent. A step that stays incomplete (a gap in the
 * records, a killed process's last seconds) has NULL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drain/gpu/gpu_rows.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

struct gpu_join;

int gpu_join_open(struct writer *writer, struct gpu_join **ret_gpu);
void gpu_join_close(struct gpu_join *gpu);

/* Takes a record of one of the kinds DLPROF_EVENT_GPU_*. */
int gpu_join_take(struct gpu_join *gpu, const struct segment *segment,
		  const struct dlprof_event *event);

/* Takes a batch that was delivered to this life of a process, and whose row is written. */
int gpu_join_batch(struct gpu_join *gpu, const struct life *life, const struct gpu_batch *batch);

/* Tells that no batch of this life will come that began before this. */
void gpu_join_keep_from(struct gpu_join *gpu, const struct life *life, int64_t begin_ns);

/* Called when all rings were read. Writes what is known by now; `finishing`: for the last time. */
int gpu_join_round(struct gpu_join *gpu, bool finishing);

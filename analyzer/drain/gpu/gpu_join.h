/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_join.h - joins GPU operations with the batches in whose steps they ran.
 *
 * Operations come out of order, and up to seconds late. So a step is measured when the process has
 * said that all operations until the step's end are sent. Until then the step's GPU columns are
 * NULL.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drain/gpu/gpu_rows.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

struct gpu_process;

/* All but `writer` must be zero at first. */
struct gpu_join {
	struct writer *writer;
	struct gpu_process *processes;
	bool clock_noted, doubt_noted;
	int64_t meta_ns; /* when the sums over all operations were last written */
};

void gpu_join_done(struct gpu_join *gpu);

int gpu_join_take(struct gpu_join *gpu, const struct segment *segment,
		  const struct dlprof_event *event);

/* Takes a batch that has a row, and that this life of a process took. */
int gpu_join_batch(struct gpu_join *gpu, const struct life *life, const struct gpu_batch *batch);

/* Notes that no later batch of this life begins before `begin_ns`. */
void gpu_join_keep_from(struct gpu_join *gpu, const struct life *life, int64_t begin_ns);

/* Writes the complete steps. Call this after all rings were read. `finishing`: writes all steps. */
int gpu_join_round(struct gpu_join *gpu, bool finishing);

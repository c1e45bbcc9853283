/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_use.h - says how much of the steps (with waits) the GPU worked, copied or idled, and why. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/account/step_parts.h"
#include "dlprof/event.h"

#define GPU_PARTS          5
#define GPU_PARTS_SLACK_NS 200000 /* parts may overlap, or lie apart, by this much */

static inline enum step_part gpu_parts_of_step(int i)
{
	return i < GPU_PARTS - 1 ? (enum step_part)i : STEP_AFTER;
}

/*
 * Finds when the parts of a step begin: part i is [edges[i], edges[i + 1]). Returns false if they
 * do not follow one another, as when a part comes twice (two backward passes).
 */
bool gpu_parts_find(const struct dlprof_parts *told, int64_t wait_end_ns, int64_t end_ns,
		    int64_t edges[GPU_PARTS + 1]);

enum gpu_gap {
	GPU_GAP_DATA, /* gpu_step.h explains these classes */
	GPU_GAP_H2D,
	GPU_GAP_SYNC,
	GPU_GAP_HOST,
	GPU_GAP_OTHER,
	GPU_GAP_MAX
};

enum gpu_sync { GPU_SYNC_EVENT, GPU_SYNC_STREAM, GPU_SYNC_CONTEXT, GPU_SYNC_MAX };

/* Sums over batches, all of type double, in the order of gpu.c's columns. NAN: not observed. */
struct gpu_sums {
	double batch_count; /* number of batches that the next three members are sums of */
	double step_ns, busy_ns, gap_ns[GPU_GAP_MAX];
	double seen_count; /* number of batches with any GPU data, if only of the host's calls */
	double kernel_count, graph_count;
	double h2d_ns, h2d_bytes, h2d_pageable_bytes;
	double d2h_ns, d2h_bytes;
	double memset_ns, nccl_ns;
	double sync_ns[GPU_SYNC_MAX];
	double compute_ns; /* time of kernels and graphs other than NCCL's collectives */
	double loading_ns; /* time of GPU loaders' kernels, which is not in busy_ns */
	double refill_ns;  /* idle time after waits for batches, up to the next kernel */
	/* by part of a step: idle time other than for data or copies; length of launched kernels */
	double part_idle_ns[GPU_PARTS], part_launched_ns[GPU_PARTS];
};

#define GPU_SUMS_COUNT (sizeof(struct gpu_sums) / sizeof(double))

/* Sums of CUDA calls. NAN: not observed, or it is unknown which thread trains. */
struct gpu_call_sums {
	double batch_count;
	double sync_ns, copy_ns, launch_ns, launch_count; /* calls of the training's thread */
	double other_sync_ns, other_copy_ns, other_launch_ns, other_launch_count;
};

#define GPU_CALL_SUMS_COUNT (sizeof(struct gpu_call_sums) / sizeof(double))

enum gpu_lack {
	GPU_LACK_NOTHING,
	GPU_LACK_LAUNCHES, /* the host launches kernels too slowly */
	GPU_LACK_HOST,     /* the host does other work than launching kernels */
	GPU_LACK_ORDERS,   /* the host waited for the GPU, which meanwhile ran out of work */
	GPU_LACK_MAX
};

/* Shares are 0 to 1, of the steps' time unless something else is said. NAN: unknown. */
struct gpu_use {
	bool is_known;
	double busy_share;
	double alone_share; /* time in which nothing ran but collectives, which may only wait */
	double gap_share[GPU_GAP_MAX];
	double idle_share;
	double unattributed_share;
	double h2d_bytes_per_s;
	double pageable_share; /* share of the bytes copied to the GPU from pageable memory */
	double exposed_share;  /* time in which only a copy to the GPU ran, outside of waits */
	double overlap_share;  /* share of the copying time to the GPU in which other work ran */
	enum gpu_lack lack;
	double lack_share; /* idle time for other reasons than data and copies */
	/* Part of the step with more than half of lack_share; STEP_PART_MAX: no part. */
	enum step_part lack_part;
	double lack_part_share;
	double refill_share;
	double kernels;
	double kernel_mean_ns; /* too small if kernels run in parallel */
	double launch_ns;      /* idle time of gaps "host" and "other", for each kernel or graph */
};

void gpu_sums_init(struct gpu_sums *sums);

/* Sets impossible sums, as a damaged file may have, to NAN. */
void gpu_sums_check(struct gpu_sums *sums);

struct gpu_use gpu_use_of(const struct gpu_sums *sums);

/* Names in JSON; NULL for GPU_LACK_NOTHING. */
extern const char *const gpu_lack_ids[GPU_LACK_MAX];
extern const char *const gpu_gap_ids[GPU_GAP_MAX];
extern const char *const gpu_sync_ids[GPU_SYNC_MAX];

/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_use.h - computes how long the GPU was busy, copied or idled, and what it lacked. */
#pragma once

#include <stdbool.h>

#include "analysis/gpu/gpu_parts.h"

enum gpu_gap {
	GPU_GAP_DATA, /* the first class that is true counts; see gpu_step.h */
	GPU_GAP_H2D,
	GPU_GAP_SYNC,
	GPU_GAP_HOST,
	GPU_GAP_OTHER,
	GPU_GAP_MAX
};

enum gpu_sync { GPU_SYNC_EVENT, GPU_SYNC_STREAM, GPU_SYNC_CONTEXT, GPU_SYNC_MAX };

/* Sums over batches, all of type double, in the order of gpu.c's columns. NAN: not observed. */
struct gpu_sums {
	double batch_count; /* sums over these batches */
	double step_ns, busy_ns, gap_ns[GPU_GAP_MAX]; /* sums over these batch_count batches */
	double seen_count; /* batches with any GPU data, even if only of the host's calls */
	double kernel_count, graph_count;
	double h2d_ns, h2d_bytes, h2d_pageable_bytes;
	double d2h_ns, d2h_bytes;
	double memset_ns, nccl_ns;
	double sync_ns[GPU_SYNC_MAX];
	double compute_ns; /* time of kernels and graphs that are no collectives */
	double loading_ns; /* time of GPU loaders' kernels, which is not in busy_ns */
	double refill_ns;  /* idle after waits with idle time, up to the first kernel */
	/* by part of a step: idle for neither data nor copies; kernels launched in it */
	double part_idle_ns[GPU_PARTS], part_launched_ns[GPU_PARTS];
};

#define GPU_SUMS_COUNT (sizeof(struct gpu_sums) / sizeof(double))

/* NAN: not observed, or the training's thread is unknown. */
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
	GPU_LACK_ORDERS,   /* the host waited until the GPU had nothing left to do */
	GPU_LACK_MAX
};

/* Shares are 0-1, and shares of the steps' time unless noted otherwise; NAN: unknown. */
struct gpu_use {
	bool is_known;
	double busy_share;
	double alone_share; /* only collectives ran, which exchange data or wait for ranks */
	double gap_share[GPU_GAP_MAX];
	double idle_share;
	double unattributed_share;
	double h2d_bytes_per_s;
	double pageable_share; /* share of the bytes copied to the GPU from pageable memory */
	double exposed_share;  /* only a copy to the GPU ran, and no batch was waited for */
	double overlap_share;  /* idle, but neither for data nor for copies */
	enum gpu_lack lack;
	double lack_share; /* idle for another reason than data or copies */
	/* Part of the step with more than half of lack_share; STEP_PART_MAX: no part. */
	enum step_part lack_part;
	double lack_part_share;
	double refill_share;
	double kernels;
	double kernel_mean_ns; /* too small if kernels run in parallel */
	double launch_ns;      /* idle for the host's other work and launches, by kernel or graph */
};

void gpu_sums_init(struct gpu_sums *sums);

/* Sets impossible sums, as a damaged file may have, to NAN. */
void gpu_sums_check(struct gpu_sums *sums);

struct gpu_use gpu_use_of(const struct gpu_sums *sums);

/* Names in JSON; NULL for GPU_LACK_NOTHING. */
extern const char *const gpu_lack_ids[GPU_LACK_MAX];
extern const char *const gpu_gap_ids[GPU_GAP_MAX];
extern const char *const gpu_sync_ids[GPU_SYNC_MAX];

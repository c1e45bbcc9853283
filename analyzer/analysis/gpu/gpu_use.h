/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_use.h - what the GPU's time went to: busy, copying, or idle, and for want of what. */
#pragma once

#include <stdbool.h>

enum gpu_gap {
	GPU_GAP_DATA, /* the first that applies in this order, see schema.sql */
	GPU_GAP_H2D,
	GPU_GAP_SYNC,
	GPU_GAP_HOST,
	GPU_GAP_OTHER,
	GPU_GAP_MAX
};

enum gpu_sync { GPU_SYNC_EVENT, GPU_SYNC_STREAM, GPU_SYNC_CONTEXT, GPU_SYNC_MAX };

/* Sums over batches; NAN: not observed. Nothing but doubles, in the order of gpu.c's columns. */
struct gpu_sums {
	double batch_count;                           /* batches with known busy time and step */
	double step_ns, busy_ns, gap_ns[GPU_GAP_MAX]; /* sums over these batches */
	double seen_count; /* batches of which anything is known, even if only by the host */
	double kernel_count, graph_count;
	double h2d_ns, h2d_bytes, h2d_pageable_bytes;
	double d2h_ns, d2h_bytes;
	double memset_ns, nccl_ns;
	double sync_ns[GPU_SYNC_MAX];
	double compute_ns; /* busy with anything but collectives */
	double loading_ns; /* kernels of GPU loaders, which are not busy */
};

#define GPU_SUMS_COUNT (sizeof(struct gpu_sums) / sizeof(double))

/* Sums of the host's calls of CUDA; NAN: not recorded, or the training thread is not known. */
struct gpu_call_sums {
	double batch_count;
	double sync_ns, copy_ns, launch_ns, launch_count; /* sums of the training thread */
	double other_sync_ns, other_copy_ns, other_launch_ns, other_launch_count;
};

#define GPU_CALL_SUMS_COUNT (sizeof(struct gpu_call_sums) / sizeof(double))

/* What a GPU lacks that idles more for other reasons than for data. */
enum gpu_lack {
	GPU_LACK_NOTHING,
	GPU_LACK_LAUNCHES, /* the host does not launch fast enough */
	GPU_LACK_ORDERS,   /* the host waited until nothing was left to do */
	GPU_LACK_MAX
};

/* Shares are 0-1, of the steps unless noted otherwise; NAN: not known. */
struct gpu_use {
	bool is_known; /* anything is known */
	double busy_share;
	double alone_share; /* share in collectives alone: exchanging, or waiting for other ranks */
	double gap_share[GPU_GAP_MAX];
	double idle_share;         /* all gaps and unattributed_share */
	double unattributed_share; /* idle, and why is not known */
	double h2d_bytes_per_s;    /* while it copied */
	double pageable_share;     /* share of the bytes copied to the GPU */
	double exposed_share;      /* copying while nothing else ran and no data was waited for */
	double overlap_share;      /* share of the copying time while kernels ran, at most */
	enum gpu_lack lack;
	double lack_share;     /* idle, and neither for want of data nor for copies */
	double kernels;        /* kernels in a step */
	double kernel_mean_ns; /* about; less for kernels that run side by side */
};

void gpu_sums_init(struct gpu_sums *sums);

/* Impossible sums, as a damaged file may hold, become NAN. */
void gpu_sums_check(struct gpu_sums *sums);

struct gpu_use gpu_use_of(const struct gpu_sums *sums);

/* Names in JSON; NULL for GPU_LACK_NOTHING. */
extern const char *const gpu_lack_ids[GPU_LACK_MAX];
extern const char *const gpu_gap_ids[GPU_GAP_MAX];
extern const char *const gpu_sync_ids[GPU_SYNC_MAX];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - the report as one HTML file that needs nothing else: no network, no script to be read.
 *
 * What it holds of the outside (names, paths, the command) may be an attack, in a file that others
 * open: all of it goes through html_text(), and a policy in the page lets nothing run but our own
 * script, by its hash.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "analysis/predict/grid.h"
#include "render/run/report.h"
#include "store/run/gpu.h"

#define HTML_WINDOWS  2
#define HTML_GPU_BARS 156
#define HTML_TIME_BARS 318

/* Batches that are shown one by one, with what each worker did meanwhile. */
struct html_window {
	size_t begin; /* position in the series */
	size_t count;
	size_t ahead; /* of the rows, after `count`: loaded meanwhile, delivered later */
	struct batch_record *rows;
	size_t row_count;
};

struct html_input {
	const struct report *report;
	const struct grid *grid; /* of the report's predictions */
	struct gpu_means device;
	struct gpu_bar gpu_bars[HTML_GPU_BARS]; /* none where the GPU was not seen */
	size_t gpu_bar_count, gpu_bar_each;     /* batches */
	struct html_window
		windows[HTML_WINDOWS]; /* a typical one, the one around the longest wait */
	size_t window_count;
};

/* Which windows to show of a judged series; `rows` are the caller's to fill. */
size_t html_choose_windows(const struct batch_series *series, const struct finding *finding,
			   struct html_window *ret);

/* A picture of each rank has room for so many bars. */
#define HTML_RANK_BARS 156

/* Ranks of one job. 0 or -ENOMEM. */
struct ranks;
int html_write_ranks(const struct ranks *ranks, FILE *out);

/* Several jobs, which `path` holds: a row and a verdict of each. */
int html_write_jobs(const char *path, const struct ranks *jobs, size_t count, FILE *out);

/* 0 or -ENOMEM; errors of the stream are for the caller to check. */
int html_write(const struct html_input *input, FILE *out);

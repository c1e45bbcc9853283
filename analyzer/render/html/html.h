/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - writes the report as one HTML file, which needs neither network nor scripts to be read.
 *
 * Names, paths and commands come from outside, and may be an attack on whoever opens the file. So
 * all of them go through html_text(), and the page's policy lets nothing run except dlprof's
 * script, which it names by its hash.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "analysis/predict/grid.h"
#include "render/run/report.h"
#include "store/run/gpu.h"
#include "store/run/query.h"

#define HTML_WINDOWS  2
#define HTML_GPU_BARS 156
#define HTML_TIME_BARS 318

struct html_window {
	size_t begin;
	size_t count;
	/* Number of batches after the window that workers may load while the window lasts. */
	size_t ahead;
	struct batch_record *rows;
	size_t row_count;
};

struct html_input {
	const struct report *report;
	const struct grid *grid;
	struct gpu_means device;
	struct gpu_bar gpu_bars[HTML_GPU_BARS]; /* empty if the GPU was not observed */
	size_t gpu_bar_count, gpu_bar_each;
	struct stage_bar *stage_bars; /* NULL: no stages were observed */
	size_t stage_bar_count;
	struct html_window
		windows[HTML_WINDOWS]; /* a typical window, and one around the longest wait */
	size_t window_count;
};

/* Chooses the ranges of batches to draw one by one; returns how many. The caller reads `rows`. */
size_t html_choose_windows(const struct batch_series *series, const struct finding *finding,
			   struct html_window *ret);

#define HTML_RANK_BARS 156

/* Write the page of a job's ranks, of jobs or of a run. 0 or -ENOMEM; the caller checks `out`. */
struct ranks;
int html_write_ranks(const struct ranks *ranks, FILE *out);

int html_write_jobs(const char *path, const struct ranks *jobs, size_t count, FILE *out);

int html_write(const struct html_input *input, FILE *out);

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

#define HTML_WINDOWS  2
#define HTML_GPU_BARS 156
#define HTML_TIME_BARS 318

/* Batches that the page shows one by one, with what each worker did at that time. */
struct html_window {
	size_t begin; /* index of the first batch in the series */
	size_t count;
	size_t ahead; /* number of further rows: batches loaded meanwhile and delivered later */
	struct batch_record *rows;
	size_t row_count;
};

struct html_input {
	const struct report *report;
	const struct grid *grid; /* predictions for the sliders */
	struct gpu_means device;
	struct gpu_bar gpu_bars[HTML_GPU_BARS]; /* empty if the GPU was not observed */
	size_t gpu_bar_count, gpu_bar_each;     /* number of bars; batches for each bar */
	struct html_window
		windows[HTML_WINDOWS]; /* a typical window, and one around the longest wait */
	size_t window_count;
};

/* Chooses windows of a judged series; returns their number. The caller fills `rows`. */
size_t html_choose_windows(const struct batch_series *series, const struct finding *finding,
			   struct html_window *ret);

/* Largest number of bars in the picture of a rank. */
#define HTML_RANK_BARS 156

/* Writes the page of a job's ranks. Returns 0 or -ENOMEM. */
struct ranks;
int html_write_ranks(const struct ranks *ranks, FILE *out);

/* Writes a page about several jobs in `path`, with a row and a verdict for each. */
int html_write_jobs(const char *path, const struct ranks *jobs, size_t count, FILE *out);

/* Writes the page of a run. Returns 0 or -ENOMEM; the caller checks the stream for errors. */
int html_write(const struct html_input *input, FILE *out);

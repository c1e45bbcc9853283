/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - the part of a report that says what the GPU did, and how much of that was seen. */
#ifndef RENDER_GPU_H
#define RENDER_GPU_H

#include "render/jsonw.h"
#include "render/report.h"

/* Busy, idle and why, copies, host time in sync, kernels. Nothing where no CUDA was seen. */
void gpu_text(const struct report *report, const struct page *page);

/* "idle while the training waited for a batch". */
const char *gpu_gap_words(enum gpu_gap gap);

#define GPU_MOST_WORK 9

/* Copies, host time in sync, launches, calls of the host. */
struct gpu_work {
	const char *label;
	bool is_time; /* else `words` are all */
	double ns;    /* NAN: not observed */
	char words[256];
};

/* Up to GPU_MOST_WORK of those; how many. */
size_t gpu_work(const struct report *report, struct gpu_work *ret);

/* What is half guessed is not worth a name. */
bool gpu_is_kernel_sure(const struct tally *kernel);

/* By which clock the verdict is, and what of the run that clock leaves out: a row for each. */
void gpu_coverage(const struct report *report,
		  void (*row)(void *context, const char *label, const char *text), void *context);

/* "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* "gpu": null where nothing is known of one. */
void gpu_json(const struct report *report, struct jsonw *json);

/* Members of "coverage". */
void gpu_coverage_json(const struct report *report, struct jsonw *json);

#endif

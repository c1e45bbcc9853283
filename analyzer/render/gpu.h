/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - the part of a report that says what the GPU did, and how much of that was seen. */
#ifndef RENDER_GPU_H
#define RENDER_GPU_H

#include "render/jsonw.h"
#include "render/report.h"

/* Busy, idle and why, copies, host time in sync, kernels. Nothing where no CUDA was seen. */
void gpu_text(const struct report *report, const struct page *page);

/* By which clock the verdict is, and what of the run that clock leaves out. */
void gpu_clock_text(const struct report *report, const struct page *page);

/* "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* "gpu": null where nothing is known of one. */
void gpu_json(const struct report *report, struct jsonw *json);

/* Members of "coverage". */
void gpu_coverage_json(const struct report *report, struct jsonw *json);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_outline.h - the part of a report that says what the GPU did, and how much of that was seen.
 */
#pragma once

#include "render/outline.h"
#include "render/report.h"

/* The chapter "gpu": busy, idle and why, copies, host time in sync, kernels. */
void gpu_outline(const struct report *report, struct outline *outline);

/* "idle while the training waited for a batch". */
const char *gpu_gap_words(enum gpu_gap gap);

/* By which clock the verdict is, and what of the run that clock leaves out: items. */
void gpu_outline_coverage(const struct report *report, struct outline *outline);

/* In most of the steps it gets its batches from the loader. */
bool gpu_is_fed(const struct gpu_device *device);

/* "gpu" or "host". */
const char *gpu_clock(const struct report *report);

/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - describes the stages of a loader's pipeline, in words and in a table. */
#pragma once

#include "analysis/cause/advice.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/* Appends the figures that make a stage and its kernel the slowest, after the cause's sentence. */
void stages_add_evidence(const struct report *report, char *text, size_t size);

/* Append a step, and how, with the run's figures. Return false if remedies.def has the words. */
bool stages_add_line(const struct report *report, enum advice_id id, char *text, size_t size);
bool stages_add_how(const struct report *report, enum advice_id id, char *text, size_t size);

/* Adds the screen's line about the pipeline's parts, the largest first. */
void stages_outline_line(const struct report *report, struct outline *o);

/* Adds each stage as an item of the chapter "life", which follows the screen. */
void stages_outline(const struct report *report, struct outline *o);

/* Returns the stage that the training waits for, or NULL if it is not known. */
const struct stage_work *stages_slow(const struct report *report);

/* Returns a kernel's share of all kernels' time, or a stage's busy time / the time observed. */
double stages_share(const struct report *report, const struct stage_work *stage);

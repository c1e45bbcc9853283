/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the work of the stages in a loader's pipeline, in words and in a table. */
#pragma once

#include "analysis/cause/advice.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/* Appends which stage and kernel leads, by which figures, after the cause's own line. */
void stages_add_evidence(const struct report *report, char *text, size_t size);

/* Appends what to do and how, with the run's figures. False: the row in remedies.def suffices. */
bool stages_add_line(const struct report *report, enum advice_id id, char *text, size_t size);
bool stages_add_how(const struct report *report, enum advice_id id, char *text, size_t size);

/* Adds the screen's line with the loader's parts, largest first. */
void stages_outline_line(const struct report *report, struct outline *o);

/* Adds each stage after the screen, as items in the chapter "life". */
void stages_outline(const struct report *report, struct outline *o);

/* The stage that the rest waits for; NULL: none is known. */
const struct stage_work *stages_slow(const struct report *report);

/* A kernel's part of all kernels' own time; how much of the time another stage is busy. */
double stages_share(const struct report *report, const struct stage_work *stage);

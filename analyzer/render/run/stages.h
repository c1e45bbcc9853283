/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the work of the stages of a loader's pipeline, in words and in a table. */
#pragma once

#include "analysis/cause/advice.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/* Appends the figures by which a stage and its kernel lead, after the cause's own line. */
void stages_add_evidence(const struct report *report, char *text, size_t size);

/* Append a step, and how to do it, with the run's figures. Return false if remedies.def does. */
bool stages_add_line(const struct report *report, enum advice_id id, char *text, size_t size);
bool stages_add_how(const struct report *report, enum advice_id id, char *text, size_t size);

/* Adds the screen's line with the parts of the loader, largest first. */
void stages_outline_line(const struct report *report, struct outline *o);

/* Adds each stage, after the screen, as items of the chapter "life". */
void stages_outline(const struct report *report, struct outline *o);

/* Returns the stage that the training waits for; NULL: not known. */
const struct stage_work *stages_slow(const struct report *report);

/* Returns a kernel's share of all kernels' own time; of a stage, its busy share of the time. */
double stages_share(const struct report *report, const struct stage_work *stage);

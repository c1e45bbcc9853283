/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - what the stages of a loader's pipeline do, in words, in a table, and in JSON. */
#pragma once

#include "analysis/cause/advice.h"
#include "render/form/jsonw.h"
#include "render/form/outline.h"
#include "render/run/report.h"

/* Behind the cause's own line: which stage and kernel, and by which figures. */
void stages_add_evidence(const struct report *report, char *text, size_t size);

/* What to do and how, with the run's own figures. False: the row of remedies.def says it. */
bool stages_add_line(const struct report *report, enum advice_id id, char *text, size_t size);
bool stages_add_how(const struct report *report, enum advice_id id, char *text, size_t size);

/* The screen's line: what the loader is made of, the largest first. */
void stages_outline_line(const struct report *report, struct outline *o);

/* Beyond the screen: each of them; items of the chapter "life". */
void stages_outline(const struct report *report, struct outline *o);

/* "stages" */
void stages_json(const struct report *report, struct jsonw *json);

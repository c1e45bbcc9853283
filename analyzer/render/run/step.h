/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the work of the training in its steps: words for the screen, a table, JSON. */
#pragma once

#include "render/form/jsonw.h"
#include "render/run/report.h"

struct outline;

/* Appends a step's parts and their shares. False: steps are not split. */
bool step_add_words(const struct report *report, char *text, size_t size);

/* Adds each part with its time to the chapter "wait", or why there are none. */
void step_outline(const struct report *report, struct outline *outline);

/* "step": null where no step was observed; parts are null where steps are not split. */
void step_json(const struct report *report, struct jsonw *json);

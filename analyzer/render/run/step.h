/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - what the training does in its steps: words for the screen, a table, JSON. */
#pragma once

#include "render/form/jsonw.h"
#include "render/run/report.h"

struct outline;

/* Its parts and their shares. False: steps are not split. */
bool step_add_words(const struct report *report, char *text, size_t size);

/* In the chapter "wait": each part with its time; or that there are none, and why. */
void step_outline(const struct report *report, struct outline *outline);

/* "step": null where no step was observed; parts are null where steps are not split. */
void step_json(const struct report *report, struct jsonw *json);

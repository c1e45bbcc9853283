/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the work of the training in its steps, as words for the screen and as a table. */
#pragma once

#include "render/run/report.h"

struct outline;

/* Appends a step's parts and their shares. Returns false if steps are not divided. */
bool step_add_words(const struct report *report, char *text, size_t size);

/* Adds each part with its time to the chapter "wait", or why steps have no parts. */
void step_outline(const struct report *report, struct outline *outline);

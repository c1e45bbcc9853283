/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - describes what the training does in its steps, in words and in a table. */
#pragma once

#include "render/run/report.h"

struct outline;

/* Appends a step's parts and their shares. Returns false if steps are not divided. */
bool step_add_words(const struct report *report, char *text, size_t size);

/* Returns where a part lies, such as "in the optimizer". */
const char *step_place(const struct report *report, enum step_part part);

/* Adds each part with its time to the chapter "wait", or the reason why steps have no parts. */
void step_outline(const struct report *report, struct outline *outline);

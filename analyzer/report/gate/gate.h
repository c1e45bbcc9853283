/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - one call of the gate: its options, the runs that it reads, and its results. */
#pragma once

#include <limits.h>

#include "render/gate/gate.h"
#include "report/gate/gate_runs.h"

#define GATE_MOST_FORMS 16

struct gate {
	const struct options *options;
	struct gate_item items[OPTIONS_MOST_LIMITS + 2]; /* + 2 limits by options of their own */
	size_t item_count;
	struct gate_runs runs, baselines;
	struct gate_report report;
};

enum gate_form {
	GATE_FORM_TEXT,
	GATE_FORM_JSON,
	GATE_FORM_GITHUB,
	GATE_FORM_JUNIT,
	GATE_FORM_MARKDOWN
};

struct gate_wish {
	enum gate_form form;
	char path[PATH_MAX]; /* "": standard output */
};

struct gate_wishes {
	struct gate_wish list[GATE_MOST_FORMS];
	size_t count;
};

/* Reads --format. Without it, the environment decides (gate_forms.c). Returns 0 or CMD_ERROR. */
int gate_read_wishes(const struct options *options, struct gate_wishes *ret);
/* Writes the gate's results in all forms that are wanted. Returns 0 or CMD_ERROR. */
int gate_write_wishes(const struct gate *gate, const struct gate_wishes *wishes);

/* Reads the limits. Without any, takes the default (gate_limits.c). Returns 0 or CMD_ERROR. */
int gate_read_limits(struct gate *gate);
/* Returns the limit on the stall ratio's rise above baselines; NULL: there is no such limit. */
const struct gate_item *gate_find_increase(const struct gate *gate);

/* Judges: fills gate->items and gate->report (gate_judge.c). Returns 0 or CMD_ERROR. */
int gate_judge_all(struct gate *gate);

/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - one call of the gate: its options, the runs it read, and its results. */
#pragma once

#include <limits.h>

#include "render/gate/gate.h"
#include "report/gate/gate_runs.h"

#define GATE_MOST_FORMS 16

struct gate {
	const struct options *options;
	struct gate_item items[OPTIONS_MOST_LIMITS + 2]; /* two more for options of their own */
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
	char path[PATH_MAX]; /* path of the report; "": standard output */
};

struct gate_wishes {
	struct gate_wish list[GATE_MOST_FORMS];
	size_t count;
};

/* gate_forms.c: reads --format, or takes what fits the environment. 0 or CMD_ERROR. */
int gate_read_wishes(const struct options *options, struct gate_wishes *ret);
/* Writes all forms, and GitHub's summary. 0 or CMD_ERROR. */
int gate_write_wishes(const struct gate *gate, const struct gate_wishes *wishes);

/* gate_limits.c: reads the limits of the command line, or takes the default. 0 or CMD_ERROR. */
int gate_read_limits(struct gate *gate);
/* The first limit on an increase; NULL: there is none. */
const struct gate_item *gate_find_increase(const struct gate *gate);

/* gate_judge.c: fills items and report. 0 or CMD_ERROR. */
int gate_judge_all(struct gate *gate);

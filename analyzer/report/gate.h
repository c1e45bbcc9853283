/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - one call of the gate: what it was asked, what it read, what it found. */
#pragma once

#include <limits.h>

#include "render/gate.h"
#include "report/gate_runs.h"
#include "report/policy.h"

#define GATE_MOST_FORMS 16

struct gate {
	const struct options *options;
	struct policy policy;
	struct gate_runs runs, baselines;
	struct gate_report report;
	char policy_path[PATH_MAX]; /* as annotations name it */
};

enum gate_form {
	GATE_FORM_TEXT,
	GATE_FORM_JSON,
	GATE_FORM_GITHUB,
	GATE_FORM_JUNIT,
	GATE_FORM_MARKDOWN,
	GATE_FORM_OPENMETRICS
};

struct gate_wish {
	enum gate_form form;
	char path[PATH_MAX]; /* "": where the report goes */
};

struct gate_wishes {
	struct gate_wish list[GATE_MOST_FORMS];
	size_t count;
};

/* gate_forms.c: --format, or what fits the place. 0 or CMD_ERROR. */
int gate_read_wishes(const struct options *options, struct gate_wishes *ret);
/* Writes all of them, and GitHub's summary. 0 or CMD_ERROR. */
int gate_write_wishes(const struct gate *gate, const struct gate_wishes *wishes);

/* gate_policy.c: the policy file, then the command line; without either, the default. 0 or
 * CMD_ERROR. */
int gate_read_policy(struct gate *gate);
/* The first limit on an increase; NULL: there is none. */
const struct gate_item *gate_find_increase(const struct policy *policy);

/* gate_judge.c: fills items and report. 0 or CMD_ERROR. */
int gate_judge_all(struct gate *gate);

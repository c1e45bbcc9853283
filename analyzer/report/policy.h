/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - the assertions of a gate, from text: `error|warn METRIC <= VALUE [OPTION=VALUE]...`,
 * one a line; # begins a comment. VALUE: 10%, 0.1, 3pp, 250ms, 500, as the metric's unit is.
 * Options: else=fail|warn|pass; of stall.ratio.increase also base=N, rule=bound|separation, runs=N.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/gate.h"

struct policy {
	struct gate_item *lines;
	size_t count;
};

/* What is wrong, and where: counted from 1. */
struct policy_problem {
	size_t line, column;
	char text[200];
};

/* 0, -ENOMEM, or -EINVAL with *problem. The policy keeps what it had. */
int policy_read(struct policy *policy, const char *text, struct policy_problem *problem);

/* One more, of the command line. 0 or -ENOMEM. */
int policy_add(struct policy *policy, const struct gate_item *line);

void policy_done(struct policy *policy);

/* Of "fail", "warn" or "pass"; else GATE_ACTION_UNSET. */
enum gate_action policy_action(const char *text);

/* A value in the unit; times become ns. */
bool policy_value(const char *text, enum gate_unit unit, double *ret);

/* What policy_value() takes. */
const char *policy_unit_words(enum gate_unit unit);

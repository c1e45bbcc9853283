/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - finds why the loop waits, or what else is wrong if it does not wait.
 *
 * Every mechanism gets a part of the account's time (account.h): epoch starts, epoch ends and
 * receiving are parts of the account already; split.h divides the waits for batches that were not
 * ready. The mechanism with the highest cost is the cause. Another one is reported with it if it
 * costs at least a third as much. Pauses of the training count as steps; they are the cause if the
 * run does not starve, or if they cost five times as much as any waiting.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

#define CAUSE_COST_LEAST 0.01   /* a cause that costs a smaller share of all time is not reported */
#define CAUSE_SECOND     (1.0 / 3) /* a second cause is reported if it costs at least this share of
				    * the first */

/* Finds the causes of a series that stall_judge() has judged. Returns 0 or -ENOMEM. */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct cause_input *input, struct diagnosis *ret);

/*
 * As cause_find(), without advice. Predictions take most of the time, and are made only if a cause
 * depends on one. If `input` is NULL, none is made, and only the series counts.
 */
int cause_find_bare(const struct batch_series *series, const struct finding *finding,
		    const struct cause_input *input, struct diagnosis *ret);

/* Names in JSON; NULL for CAUSE_UNKNOWN. */
extern const char *const cause_names[CAUSE_MAX];

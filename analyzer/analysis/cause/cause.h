/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why the loop waits, or what is amiss although it does not wait.
 *
 * Every mechanism gets its seconds of the account (account.h): starts and ends of epochs, and
 * receiving, are parts of it; split.h divides the waits for batches that were not ready. The
 * mechanism with the highest cost is the cause, and another one with a third of that cost is named
 * beside it. Pauses of the training itself are part of its steps: they are the cause of a run that
 * does not starve, and of one in which they cost five times as much as any waiting.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

#define CAUSE_COST_LEAST 0.01   /* a cause that costs a smaller share of all time is not reported */
#define CAUSE_SECOND     (1.0 / 3) /* a second cause is named from this share of the first cause's
				    * cost on */

/* Finds the causes of a series; its finding has verdict and confidence. 0 or -ENOMEM. */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct cause_input *input, struct diagnosis *ret);

/*
 * Finds causes without advice. Predictions, which take most of the time, are made only if a cause
 * depends on one. If `input` is NULL, only the series counts, and no prediction is made.
 */
int cause_find_bare(const struct batch_series *series, const struct finding *finding,
		    const struct cause_input *input, struct diagnosis *ret);

/* Names in JSON; NULL for CAUSE_UNKNOWN. */
extern const char *const cause_names[CAUSE_MAX];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why the loop waits, or why it does not although something is amiss.
 *
 * Every mechanism gets its seconds of the account (account.h): starts and ends of epochs, and
 * receiving, are parts of it; split.h divides what was waited for batches that were not ready. The
 * mechanism with the highest cost is the cause, and another one with a third of that cost is named
 * beside it. Pauses of the training itself are time of steps: they are the cause of a run that does
 * not starve, and of one in which they cost five times as much as any waiting.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

#define CAUSE_COST_LEAST 0.01      /* share of all time; less is not worth reporting */
#define CAUSE_SECOND     (1.0 / 3) /* share of the first cause's cost from which another is named */

/* Finds the causes of a judged series; the finding has verdict and confidence. 0 or -ENOMEM. */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct cause_input *input, struct diagnosis *ret);

/*
 * Finds causes without advice, and with predictions, which take most of the time, only where a
 * cause depends on one. `input` NULL: by the waits alone, without any prediction.
 */
int cause_find_bare(const struct batch_series *series, const struct finding *finding,
		    const struct cause_input *input, struct diagnosis *ret);

/* Names in JSON; NULL for CAUSE_UNKNOWN. */
extern const char *const cause_names[CAUSE_MAX];

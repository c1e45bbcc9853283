/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - why the loop waits, or why it does not although something is amiss.
 *
 * Every mechanism gets its seconds of the account (account.h): the start and end of epochs and
 * receiving are parts of it; what was waited for batches that were not ready is divided by split.h.
 * The largest is the cause, whatever the others are, and one from a third of it is named beside it.
 * What the training's own pauses cost is time of steps: it is the cause of a run that does not
 * starve, and of one in which it is five times as much as any waiting.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

#define CAUSE_COST_LEAST 0.01      /* of all time: less is not worth reporting */
#define CAUSE_SECOND     (1.0 / 3) /* of the first cause: more is named beside it */

/* Of a judged series; confidence and the like are the finding's. 0 or -ENOMEM. */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct cause_input *input, struct diagnosis *ret);

/*
 * The same without advice, and without predictions, which would take most of the time, but where
 * a cause depends on one. `input` NULL: by the waits alone, without any.
 */
int cause_find_bare(const struct batch_series *series, const struct finding *finding,
		    const struct cause_input *input, struct diagnosis *ret);

/* As JSON has it; NULL for CAUSE_UNKNOWN. */
extern const char *const cause_names[CAUSE_MAX];

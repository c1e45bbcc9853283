/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cause.h - finds why the loop waits, or what else is wrong if it does not wait.
 *
 * The cause is what costs most of the account's time (account.h, split.h). Pauses of the training,
 * which are part of its steps, may be the cause, too, but come after all causes of waiting if the
 * verdict is HIGHLY. If the run does not starve, only pauses are looked at.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

#define CAUSE_COST_LEAST 0.01
/* a second cause is named if it costs at least this share of the first cause's cost */
#define CAUSE_SECOND     (1.0 / 3)

/* Finds the causes of waiting and of long steps, and gives advice. `input` may be NULL. */
int cause_find(const struct batch_series *series, const struct finding *finding,
	       const struct cause_input *input, struct diagnosis *ret);

/* Names in JSON; NULL for CAUSE_UNKNOWN. */
extern const char *const cause_names[CAUSE_MAX];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what to do about it, what that brings, and what would bring nothing.
 *
 * One list of candidates. Those that the replay can price have the gain of their prediction and are
 * given from ADVICE_GAIN on; others have a bound from the account. The cause's own remedy comes
 * first, then by gain that of the second cause and what else helps. A prediction stands behind a
 * step, or among what would not help, or in neither; never in both.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

/* Fills in diagnosis->advice, all else of which is known. 0 or -ENOMEM. */
int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *diagnosis);

/* Whether a step's gain is that prediction. */
bool advice_has(const struct advice_list *list, enum whatif_id id);

/* As JSON has them. */
extern const char *const advice_names[ADVICE_MAX];
extern const char *const advice_useless_words[USELESS_MAX];

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what to do about a cause, what gain that brings, and what would bring none.
 *
 * All candidates are in one list. Those that the replay can price have their prediction's gain and
 * are given from ADVICE_GAIN on; others have a bound from the account. The cause's own remedy comes
 * first; remedies of the second cause and other settings follow by gain. A prediction supports a
 * step, or shows that a setting would not help, or does neither, but never both.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

/* Fills in diagnosis->advice from the rest of the diagnosis. Returns 0 or -ENOMEM. */
int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *diagnosis);

/* Returns true if a step in the list has its gain from this prediction. */
bool advice_has(const struct advice_list *list, enum whatif_id id);

/* Names of advice in JSON; sentences that say why a setting would not help. */
extern const char *const advice_names[ADVICE_MAX];
extern const char *const advice_useless_words[USELESS_MAX];

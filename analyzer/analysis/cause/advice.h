/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - chooses remedies for the causes found, and predicts what each would gain.
 *
 * The first cause's remedies come first, then the second's and other settings by gain. A predicted
 * gain must be ADVICE_GAIN; any other is only bounded by the account.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *diagnosis);

/* Returns true if the gain of a remedy in the list is from the prediction `id`. */
bool advice_has(const struct advice_list *list, enum whatif_id id);

/* Names in JSON, and sentences why a setting would not help. */
extern const char *const advice_names[ADVICE_MAX];
extern const char *const advice_useless_words[USELESS_MAX];

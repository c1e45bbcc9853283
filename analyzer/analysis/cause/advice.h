/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - chooses remedies for the causes found, and predicts the gain of each.
 *
 * Remedies of the first cause come first, then those of the second cause and other settings by
 * gain. An advice is dropped if its predicted gain is below ADVICE_GAIN. A gain that is not
 * predicted is limited by the measured times only.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *diagnosis);

/* Returns true if a remedy in the list has its gain from the prediction `id`. */
bool advice_has(const struct advice_list *list, enum whatif_id id);

/* Names in JSON, and sentences why a setting would not help. */
extern const char *const advice_names[ADVICE_MAX];
extern const char *const advice_useless_words[USELESS_MAX];

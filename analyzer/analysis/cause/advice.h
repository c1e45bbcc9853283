/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - chooses remedies for the causes found, and predicts the gain of each.
 *
 * Remedies of the first cause come first. Remedies of the second cause and other settings follow,
 * ordered by gain. An advice is dropped if its predicted gain is below ADVICE_GAIN. Where no replay
 * predicts a gain, the advice gets an upper bound from the measured times.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *diagnosis);

/* Returns true if the gain of a remedy in the list was predicted by the setting `id`. */
bool advice_has(const struct advice_list *list, enum whatif_id id);

/* names in JSON */
extern const char *const advice_names[ADVICE_MAX];

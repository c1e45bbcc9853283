/* SPDX-License-Identifier: Apache-2.0 */
/*
 * useless.h - lists the usual settings (workers, prefetch_factor, ...) that would gain nothing.
 *
 * A setting is listed if the replay predicts a gain below ADVICE_GAIN and no remedy names it.
 */
#pragma once

#include "analysis/cause/diagnosis.h"

/* Adds useless settings to diagnosis->advice, whose remedies must be complete. */
void useless_find(const struct batch_series *series, const struct finding *finding,
		  struct diagnosis *diagnosis);

/* sentences that say why a setting would not help */
extern const char *const useless_words[USELESS_MAX];

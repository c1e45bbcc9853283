/* SPDX-License-Identifier: Apache-2.0 */
/* why.h - finds why a loader is waited for, from all that its database has. */
#pragma once

#include "analysis/cause/cause.h"
#include "analysis/cause/lines.h"
#include "store/run/batch.h"
#include "store/run/tally.h"

#define WHY_SAMPLES 64

struct why_input {
	const struct batch_filter *filter;
	const struct batch_series *series;
	const struct finding *finding;
	const struct load_totals *totals;
	/* NULL: why_find() reads the loader's stages, perhaps without the first epoch's. */
	struct stages *stages;
	const struct tally_list *samples;
	struct cause_input known; /* other input; why_find() adds what the members above name */
};

/* Finds the cause. Unless known.is_bare, also predictions and advice. Returns 0 or -errno. */
int why_find(struct db *db, const struct why_input *input, struct diagnosis *ret);

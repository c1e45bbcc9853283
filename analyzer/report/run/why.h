/* SPDX-License-Identifier: Apache-2.0 */
/* why.h - finds why a loader waits, from everything in its database. */
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
	/* NULL: why_find() reads the loader's stages. It may drop those of the first epoch. */
	struct stages *stages;
	const struct tally_list *samples;
	struct cause_input known; /* the rest; what is named above is added by why_find() */
};

/* Finds the cause and, unless known.is_bare, predictions and advice. Returns 0 or -errno. */
int why_find(struct db *db, const struct why_input *input, struct diagnosis *ret);

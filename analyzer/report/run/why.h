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
	const struct load_facts *facts;
	/* NULL: why_find() reads the loader's stages. It may drop those of the first epoch. */
	struct stages *stages;
	const struct lines *lines;
	const struct tally_list *samples;
	const struct gpu_use *gpu;        /* needed for advice; NULL: unknown */
	const struct step_parts *step; /* parts of the thread's steps; NULL: unknown */
	bool has_gpu;
	unsigned lacks;
	bool is_threads;
};

/* Finds the cause; if `advises`, also predictions and advice, which take long. 0 or -errno. */
int why_find(struct db *db, const struct why_input *input, bool advises, struct diagnosis *ret);

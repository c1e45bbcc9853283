/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/mix.h"

#include <math.h>

static bool is_about_loads(enum cause cause)
{
	return cause == CAUSE_LOADER_CAPACITY || cause == CAUSE_CPU_CONTENTION ||
	       cause == CAUSE_SINGLE_PROCESS;
}

static double share_of(double ns, const struct load_mix *mix)
{
	return mix->load_ns > 0 && ns > 0 ? fmin(ns / mix->load_ns, 1) : 0;
}

static enum advice_id reading(const struct load_mix *mix)
{
	return mix->read_count >= MIX_SMALL_READS * mix->samples &&
			       mix->read_bytes <= MIX_SMALL_BYTES * mix->read_count
		       ? ADVICE_SMALL_READS
		       : ADVICE_STORAGE_BOUND;
}

/* What the run would gain if its loads did without this part. */
static int price(const struct batch_series *series, const struct finding *finding, double share,
		 const struct whatif *known, double *ret_gain)
{
	const struct whatif_wish wish = {.text = "",
					 .workers = -1,
					 .prefetch_factor = -1,
					 .in_order = -1,
					 .load_factor = 1 - share};
	struct whatif whatif = *known;
	int r;

	whatif.wish_count = 0;
	r = whatif_ask(series, finding, &wish, 1, &whatif);
	*ret_gain = whatif.gain[WHATIF_MAX];
	return r;
}

int mix_refine(const struct batch_series *series, const struct finding *finding,
	       const struct load_mix *mix, struct diagnosis *diagnosis)
{
	const struct {
		enum advice_id id;
		double share;
	} parts[] = {
		{ADVICE_DECODE_BOUND, share_of(mix->decode_ns, mix)},
		{reading(mix), share_of(fmax(mix->open_ns, 0) + fmax(mix->read_ns, 0), mix)},
	};
	int r = 0;

	if (!finding->starved || !is_about_loads(diagnosis->cause))
		return 0;
	for (size_t i = 0; r == 0 && i < sizeof(parts) / sizeof(*parts); i++) {
		struct advice advice = {.id = parts[i].id, .is_bound = true};

		if (parts[i].share < MIX_LEAST)
			continue;
		/* A load of no length is none: nothing replays it. */
		r = price(series, finding, fmin(parts[i].share, 0.99), &diagnosis->whatif,
			  &advice.gain);
		if (r == 0 && advice.gain >= ADVICE_GAIN)
			advice_insert(&diagnosis->advice, advice);
	}
	return r;
}

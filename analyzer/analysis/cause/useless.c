/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/useless.h"

#include "analysis/cause/advice.h"

const char *const useless_words[USELESS_MAX] = {
	[USELESS_LOADING_IS_NO_LIMIT] = "the training does not wait for data",
	[USELESS_CORES_ARE_USED] = "the cores are used up",
	[USELESS_WORKERS_NEVER_IDLE] = "the workers are never idle, so a longer queue "
				       "stays as empty",
	[USELESS_NOTHING_BEHIND] = "no later batch is finished when one is asked for",
	[USELESS_OTHER_LIMIT] = "the replay of this run shows no gain",
};

static bool is_anything_behind(const struct batch_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (series->state[i] & SERIES_STARVED && series->state[i] & SERIES_QUEUE)
			return true;
	return false;
}

/* Returns true if shorter loads would not help, as the training waits for something else. */
static bool is_not_about_loads(const struct finding *f, const struct diagnosis *d)
{
	const enum cause cause = d->cause;

	return !f->starved || cause == CAUSE_DELIVERY || cause == CAUSE_EPOCH_START ||
	       cause == CAUSE_SAMPLER || cause == CAUSE_INTERPRETER_HELD;
}

static enum useless why(const struct batch_series *s, const struct finding *f,
			const struct diagnosis *d, enum whatif_id id)
{
	if (!f->starved)
		return USELESS_LOADING_IS_NO_LIMIT;
	if (id == WHATIF_WORKERS_X2 && d->whatif.core_limited)
		return USELESS_CORES_ARE_USED;
	if (id == WHATIF_PREFETCH_X4 && f->rho >= 1 && d->cause != CAUSE_IDLE_WORKERS &&
	    !is_not_about_loads(f, d))
		return USELESS_WORKERS_NEVER_IDLE;
	if (id == WHATIF_IN_ORDER_FALSE && !is_anything_behind(s))
		return USELESS_NOTHING_BEHIND;
	return USELESS_OTHER_LIMIT;
}

void useless_find(const struct batch_series *s, const struct finding *f, struct diagnosis *d)
{
	static const enum whatif_id tried[] = {WHATIF_WORKERS_X2, WHATIF_PREFETCH_X4,
					       WHATIF_IN_ORDER_FALSE, WHATIF_PERSISTENT,
					       WHATIF_LOAD_HALF};
	struct advice_list *list = &d->advice;

	if (d->cause == CAUSE_UNKNOWN)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(tried); i++) {
		if (!(d->whatif.gain[tried[i]] < ADVICE_GAIN) || advice_has(list, tried[i]) ||
		    (tried[i] == WHATIF_WORKERS_X2 && advice_has(list, WHATIF_MORE_WORKERS)) ||
		    (tried[i] == WHATIF_LOAD_HALF && !is_not_about_loads(f, d)))
			continue;
		list->useless[list->useless_count].id = tried[i];
		list->useless[list->useless_count++].why = why(s, f, d, tried[i]);
	}
}

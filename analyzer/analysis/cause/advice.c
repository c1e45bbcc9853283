/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/advice.h"

#include <math.h>
#include <string.h>

#include "analysis/cause/grounds.h"
#include "analysis/cause/lines.h"
#include "analysis/cause/removed.h"

/* advise pinned memory if at least this share of copied bytes is pageable */
#define PAGEABLE_LEAST 0.5
#define UNSEEN         1.005 /* a smaller multiple of the run's rate would be shown as "1.00x" */
#define REMEDIES       17
#define ALIKE          1.1 /* gains count as equal if they differ by a smaller factor */
/* advise faster storage if reading takes at least this share of the loads' time */
#define READING_LEAST  0.2
/* advise to split files if reading and decoding take this share of the loads: parsing adds to it */
#define PARSING_LEAST  0.1
#define MANY_BYTES     (8.0 * (1 << 20))
#define PICKLED_BYTES  (1.0 * (1 << 20)) /* a batch without tensors is large from this size on */
#define FEW_TENSORS    0.5 /* a batch has no tensors if there are fewer than this on average */
#define CROWDED        0.7 /* a training thread is crowded if it gets a smaller part of a core */
#define MUCH_MORE      2.0   /* a gain is much more if it is this many times another gain */
#define WORTH          0.1 /* a remedy that surely gains this much goes before advice on the step */
#define LITTLE_WAITING 0.1 /* advise to look at steps if a smaller share of the time is waiting */
#define WASTE_GAIN     0.5 /* removing waste goes before OWN_CORES if it gains at least this */
#define NO_ROW         (-1)

const char *const advice_names[ADVICE_MAX] = {
#define ADVICE(constant, name, ...) name,
#include "analysis/cause/remedies.def"
#undef ADVICE
};

/* Bits by which remedies are ordered: `rank` in remedies.def. */
enum { WASTE = 1 << 0, FIRST = 1 << 1 };

static const unsigned char ranks[ADVICE_MAX] = {
#define ADVICE(constant, name, rank, ...) rank,
#include "analysis/cause/remedies.def"
#undef ADVICE
};

/* The remedies of each cause, the preferred one first. */
static const enum advice_id PREFERRED[CAUSE_MAX][REMEDIES] = {
#define REMEDY(cause, ...) [CAUSE_##cause] = {__VA_ARGS__},
#include "analysis/cause/preferred.def"
#undef REMEDY
};

/* These settings are advised whatever the run's cause is, if the replay predicts a gain. */
static const enum advice_id OTHERS[] = {
	ADVICE_MORE_LOADER_CAPACITY,
	ADVICE_PREFETCH_OR_IN_ORDER_FALSE,
	ADVICE_PERSISTENT_WORKERS,
	ADVICE_USE_FEWER_WORKERS,
	ADVICE_USE_NO_WORKERS,
	ADVICE_FILE_SYSTEM_SHARING,
	ADVICE_REDUCE_DELIVERY_COST,
};

/* Returns the gain if `share` of the time is saved. */
static double gain_of(double share)
{
	return share < 1 ? 1 / (1 - share) - 1 : NAN;
}

/* Returns false if there may be no gain: the range of predicted rates includes the run's rate. */
static bool is_sure(const struct whatif *whatif, int row)
{
	double as_it_was = whatif->batches_per_s[WHATIF_BASELINE];

	return whatif->gain[row] > 0 && (whatif_may_be_shared(whatif, row) ||
					 !(whatif->low_per_s[row] < UNSEEN * as_it_was));
}

/*
 * Returns which prediction in `whatif` gives the advice's gain, or NO_ROW. A longer queue leaves
 * samples in their order, so it goes before in_order=False if their gains are alike.
 */
static int row_of(const struct whatif *whatif, enum advice_id id)
{
	/* 0 (WHATIF_BASELINE) stands for no prediction. */
	static const int rows[ADVICE_MAX] = {
		[ADVICE_MORE_LOADER_CAPACITY] = WHATIF_MORE_WORKERS,
		[ADVICE_PREFETCH_OR_IN_ORDER_FALSE] = WHATIF_IN_ORDER_FALSE,
		[ADVICE_FIX_SLOW_WORKER] = WHATIF_FIX_SLOW_WORKER,
		[ADVICE_USE_WORKERS] = WHATIF_USE_WORKERS,
		[ADVICE_REDUCE_CPU_PER_BATCH] = WHATIF_LOAD_HALF,
		[ADVICE_PERSISTENT_WORKERS] = WHATIF_PERSISTENT,
		[ADVICE_REDUCE_DELIVERY_COST] = WHATIF_DELIVERY,
		[ADVICE_RETURN_TENSORS] = WHATIF_DELIVERY,
		[ADVICE_SEND_LESS] = WHATIF_DELIVERY,
		[ADVICE_VECTORISE_SAMPLER] = WHATIF_SAMPLING,
		[ADVICE_FILE_SYSTEM_SHARING] = WHATIF_SHARING,
		[ADVICE_USE_FEWER_WORKERS] = WHATIF_FEWER_WORKERS,
		[ADVICE_USE_NO_WORKERS] = WHATIF_NO_WORKERS,
		[ADVICE_EVEN_SHARDS] = WHATIF_EVEN_SHARDS,
	};
	const double *gain = whatif->gain;

	if (id == ADVICE_PREFETCH_OR_IN_ORDER_FALSE &&
	    (gain[WHATIF_PREFETCH_X4] > gain[WHATIF_IN_ORDER_FALSE] ||
	     isnan(gain[WHATIF_IN_ORDER_FALSE]) ||
	     (is_sure(whatif, WHATIF_PREFETCH_X4) &&
	      ALIKE * (1 + gain[WHATIF_PREFETCH_X4]) > 1 + gain[WHATIF_IN_ORDER_FALSE])))
		return WHATIF_PREFETCH_X4;
	return rows[id] ? rows[id] : NO_ROW;
}

/* Returns true if workers are threads that compute or wait for each other: they share the GIL. */
static bool is_held(const struct remedied *v)
{
	const struct grounds *r = &v->diagnosis->grounds;

	return v->input->is_threads &&
	       fmax(r->cpu_share + r->no_core_share, r->thread_share) >= GROUNDS_CPU_LITTLE;
}

static bool is_shared(enum cause cause)
{
	return cause == CAUSE_IDLE_WORKERS || cause == CAUSE_SHARED_LIMIT || cause == CAUSE_LOCK ||
	       cause == CAUSE_INTERMITTENT_LOADER;
}

static bool applies(const struct remedied *v, enum advice_id id)
{
	const struct batch_series *s = v->series;
	const struct grounds *r = &v->diagnosis->grounds;
	const struct load_times *loads = v->input->loads;
	const struct account *a = &v->finding->account;

	switch (id) {
	case ADVICE_NONE:
		return false;
	case ADVICE_MORE_LOADER_CAPACITY:
		return s->workers > 0 && !is_shared(v->diagnosis->cause) &&
		       !v->diagnosis->uneven.loading && !r->is_managed && !is_held(v) &&
		       !(r->write_share > 0) &&
		       !(r->starts_programs && v->diagnosis->cpu_share >= CPU_FULL);
	case ADVICE_PERSISTENT_WORKERS:
		return s->persistent != 1 && s->workers != 0 &&
		       !(v->input->lacks & OPTION_PERSISTENT);
	case ADVICE_PREFETCH_OR_IN_ORDER_FALSE:
		return s->workers > 0 && !(v->input->lacks & OPTION_PREFETCH);
	case ADVICE_USE_NO_WORKERS:
		return s->workers > 0 && !(v->input->lacks & OPTION_PREFETCH) &&
		       !(v->diagnosis->gathered > 0) &&
		       v->finding->load_mean_ns * (double)a->count < a->part_ns[ACCOUNT_RECEIVING];
	case ADVICE_FILE_SYSTEM_SHARING:
		return s->workers > 0 && !(v->input->lacks & OPTION_SHARING);
	case ADVICE_MOVE_OUT_OF_PROCESS:
		return v->diagnosis->cause == CAUSE_INTERPRETER_HELD ||
		       v->diagnosis->cause == CAUSE_STEPS_HELD ||
		       v->diagnosis->second == CAUSE_STEPS_HELD || is_held(v);
	case ADVICE_STORAGE:
		return r->storage_share >= READING_LEAST;
	case ADVICE_SMOOTH_SHARD_OPENING:
		return !loads || !load_reads_nothing(loads);
	case ADVICE_BALANCE_LOADS:
		return v->diagnosis->slow.every > 0;
	case ADVICE_USE_WORKERS:
		/* Workers gain nothing if each batch has an iterator that starts workers anew. */
		return s->workers == 0 && v->finding->epoch_count < v->finding->batch_count;
	case ADVICE_SHRINK_BATCH:
		return r->blown_up > 0;
	case ADVICE_INDEX_AT_ONCE:
		return r->small.count > 0 && s->iterable == 0 &&
		       !(v->input->lacks & OPTION_SAMPLER);
	case ADVICE_REDUCE_CPU_PER_BATCH:
		return removed_working_share(v) >= GROUNDS_CPU_LITTLE;
	case ADVICE_REDUCE_DELIVERY_COST:
		return r->tensors >= GROUNDS_TENSORS || v->diagnosis->gathered > 0;
	case ADVICE_RETURN_TENSORS:
		return r->facts && !v->input->is_threads &&
		       ((r->facts->tensors < FEW_TENSORS &&
			 r->facts->batch_bytes >= PICKLED_BYTES) ||
			r->facts->objects >= LOAD_FACTS_OBJECTS) &&
		       s->workers > 0 && !(v->input->lacks & OPTION_SHARING);
	case ADVICE_SEND_LESS:
		return r->facts && r->facts->batch_bytes >= MANY_BYTES;
	case ADVICE_OWN_CORES:
		return removed_from_cores(v) >= GROUNDS_KEPT ||
		       (v->diagnosis->cause != CAUSE_CPU_CONTENTION && !r->is_managed &&
			series_has_others(s) && !(s->main_share >= CROWDED));
	case ADVICE_READ_LESS:
		return r->read_again >= GROUNDS_READ_AGAIN &&
		       removed_reading_share(v) >= READING_LEAST;
	case ADVICE_FEWER_REQUESTS:
		return r->asked_share >= GROUNDS_OUTSIDE && !r->is_managed &&
		       !(r->received_again > 0) && !(r->piped_share >= GROUNDS_OUTSIDE);
	case ADVICE_WITHOUT_HELPER:
		return r->piped_share >= GROUNDS_OUTSIDE;
	case ADVICE_KEEP_OPEN:
		return r->making_share > 0;
	case ADVICE_SYNC_LESS:
		return r->sync_share >= GROUNDS_OUTSIDE;
	case ADVICE_WRITE_LESS:
		return r->write_share > 0;
	case ADVICE_FAULT_LESS:
		return r->fault_share >= GROUNDS_OUTSIDE;
	case ADVICE_SHARE_WITHOUT_MANAGER:
		return r->is_managed;
	case ADVICE_DECODE_FEWER:
		return r->drawn > 0 && load_decode_share(loads) >= READING_LEAST;
	case ADVICE_SPLIT_FIRST:
		return (r->is_decoded_by_all && load_decode_share(loads) >= READING_LEAST) ||
		       (r->is_opened_by_all &&
			load_read_share(loads) + load_decode_share(loads) >= PARSING_LEAST);
	case ADVICE_FIND_EVENT:
		return removed_is_shift(v->diagnosis) || removed_are_stalls(v->diagnosis);
	case ADVICE_CHEAPER_STARTS:
		/* If each batch makes a new iterator, persistent workers are the better advice. */
		return v->finding->epoch_count < v->finding->batch_count ||
		       !applies(v, ADVICE_PERSISTENT_WORKERS);
	default:
		return true;
	}
}

static void take_gain(struct whatif_gain gain, struct advice *ret)
{
	ret->gain = gain.gain;
	ret->low = gain.low;
	ret->high = gain.high;
}

static const struct stage_gain *stage_gain(const struct stage_finding *stages, enum advice_id id)
{
	switch (id) {
	case ADVICE_PARALLEL_STAGE:
		return &stages->parallel;
	case ADVICE_OWN_THREADS:
		return &stages->own_threads;
	case ADVICE_ADD_PREFETCH:
		return &stages->prefetch;
	case ADVICE_CHEAPER_STAGE:
		return &stages->cheaper;
	case ADVICE_FILL_CACHE:
		return &stages->cached;
	case ADVICE_KEEP_CACHE:
		return &stages->kept;
	default:
		return NULL;
	}
}

static int price_part(const struct remedied *v, double share, struct advice *ret)
{
	struct whatif_gain gain;
	int r = whatif_part(v->series, v->finding, &v->diagnosis->whatif, share, &gain);

	if (r == 0)
		take_gain(gain, ret);
	return r;
}

/* Extends the range, up or down, to the gain of loads that are shorter by the share `part`. */
static int extend(const struct remedied *v, double part, bool is_up, struct advice *ret)
{
	struct advice other = {.gain = NAN};
	int r = part > 0 ? price_part(v, part, &other) : 0;
	double *end = is_up ? &ret->high : &ret->low;

	if (r == 0 && (is_up ? other.gain > *end : other.gain < *end))
		*end = other.gain;
	return r;
}

/* Extends the range up to the gain of loads without their longest function. */
static int widen_to_function(const struct remedied *v, enum advice_id id, struct advice *ret)
{
	const double part = removed_at_most(v, id);
	struct advice other = {.gain = NAN};
	int r = part > 0 ? price_part(v, part, &other) : 0;

	ret->is_open = r == 0 && other.gain > ret->high;
	if (ret->is_open)
		ret->high = other.high;
	return r;
}

static double share_of_cause(const struct diagnosis *d, enum cause cause)
{
	for (size_t i = 0; i < d->cause_count; i++)
		if (d->causes[i].cause == cause)
			return d->causes[i].share;
	return 0;
}

/* Returns the share of the time that pauses take: long steps, saves and logging. */
static double share_of_pauses(const struct diagnosis *d)
{
	return share_of_cause(d, CAUSE_MAIN_THREAD_PERIODIC) + share_of_cause(d, CAUSE_SAVING) +
	       share_of_cause(d, CAUSE_LOGGING);
}

/* Returns the gain if all cores were busy with the CPU time that loads and steps need now. */
static double gain_of_cores(const struct remedied *v)
{
	const struct batch_series *s = v->series;
	const double batch_ns = v->finding->account.time_ns / (double)s->count;

	return s->cores * batch_ns / (series_load_cpu_ns(s) + s->main_cores * batch_ns) - 1;
}

/* Returns the largest gain an advice can have. NAN: unknown, as the advice also shortens steps. */
static double most_of(const struct remedied *v, enum advice_id id)
{
	const struct finding *f = v->finding;
	const struct batch_series *s = v->series;

	/* Loads need cores for the CPU time of their own threads anyway. fmin() ignores NAN. */
	if (id == ADVICE_LIMIT_THREADS)
		return fmin(f->gain_alone, f->steady_ns / (double)f->steady_count *
						   fmin(s->workers, s->cores) /
						   series_load_cpu_ns(s)) -
		       1;
	/* If no loads are made that nobody takes, steps become shorter, too. */
	if (id == ADVICE_CHEAPER_STARTS && v->diagnosis->grounds.is_left_early)
		return f->gain_alone - 1;
	if (id == ADVICE_PERSISTENT_WORKERS || id == ADVICE_CHEAPER_STARTS)
		return gain_of(f->account.share[ACCOUNT_EPOCH_START] +
			       f->account.share[ACCOUNT_EPOCH_END]);
	if (id == ADVICE_INSPECT_WAITS)
		return gain_of(f->account.share[ACCOUNT_RECEIVING]);
	if (id == ADVICE_WORK_IN_WORKERS)
		return gain_of(v->input->lines->around.share * f->account.step_ns /
			       f->account.time_ns);
	/* These remedies spread work over time, but leave all of it. fmin() ignores NAN. */
	if (id == ADVICE_SMOOTH_SHARD_OPENING || id == ADVICE_BALANCE_LOADS)
		return fmin(f->gain_alone - 1, gain_of_cores(v));
	/* Workers that have no data now may become as fast as the others, but not faster. */
	if (id == ADVICE_MORE_SHARDS && s->loading > 0)
		return fmin(f->gain_alone, (double)s->workers / s->loading) - 1;
	return id == ADVICE_MOVE_OUT_OF_PROCESS ? NAN : f->gain_alone - 1;
}

/* Returns true if an advice may be given without a predicted gain: most_of() bounds its gain. */
static bool is_plain(const struct diagnosis *d, enum advice_id id)
{
	if (id == ADVICE_USE_FEWER_WORKERS)
		return d->cause == CAUSE_TOO_MANY_WORKERS && d->whatif.gap != WHATIF_GAP_NONE;
	return id != ADVICE_MORE_LOADER_CAPACITY && id != ADVICE_PREFETCH_OR_IN_ORDER_FALSE &&
	       id != ADVICE_USE_NO_WORKERS && id != ADVICE_FILE_SYSTEM_SHARING;
}

/* Sets the gain of steps in which no other thread holds the interpreter. `low`: by sure waits. */
static void price_held(const struct remedied *v, struct advice *ret)
{
	const struct steps_held *held = &v->diagnosis->grounds.steps_held;
	const double steps = v->finding->account.step_ns / v->finding->account.time_ns;

	take_gain((struct whatif_gain){gain_of(held->share * steps), gain_of(held->least * steps),
				       gain_of(fmin(held->share + held->error, 1) * steps)},
		  ret);
}

/*
 * Sets the gain of an advice to that of its row in `whatif`, to that of a replay with shorter
 * loads, or to an upper bound. The gain stays NAN if there is nothing to gain.
 */
static int price(const struct remedied *v, enum advice_id id, struct advice *ret)
{
	const struct whatif *whatif = &v->diagnosis->whatif;
	const struct stage_gain *of_stage = stage_gain(&v->diagnosis->stages, id);
	struct removed removed;
	int row = row_of(whatif, id), r = 0;

	*ret = (struct advice){id, NO_ROW, NAN, NAN, NAN, false, false};
	if (!applies(v, id))
		return 0;
	if (of_stage) {
		const double most = v->finding->gain_alone - 1;

		/* No gain is larger than that of ideal input. */
		if (!isnan(of_stage->gain))
			take_gain((struct whatif_gain){fmin(of_stage->gain, most), of_stage->low,
						       fmin(of_stage->high, most)},
				  ret);
		return 0;
	}
	removed = removed_by(v, id);
	/* WHATIF_LOAD_HALF halves whole loads. Halving only their CPU time may save much less. */
	if (id == ADVICE_REDUCE_CPU_PER_BATCH && removed.share < NEARLY_HALF)
		row = NO_ROW;
	if (row != NO_ROW && !isnan(whatif->gain[row])) {
		if (is_sure(whatif, row)) {
			ret->whatif = row;
			take_gain(whatif_gain_of(whatif, row), ret);
			/* Steps that no longer put small batches together become shorter, too. */
			if (id == ADVICE_REDUCE_DELIVERY_COST && v->diagnosis->gathered > 0)
				ret->high = fmax(ret->high, most_of(v, id));
			return widen_to_function(v, id, ret);
		}
		/* Without a sure gain, some advices get an upper bound. Sending less also saves
		 * making what is sent. Even shards help, as uneven ones surely are a cause. Workers
		 * that stay surely start only once, though the replay's range may begin below 1. */
		if (id != ADVICE_SEND_LESS && id != ADVICE_EVEN_SHARDS &&
		    !(id == ADVICE_PERSISTENT_WORKERS && whatif->gain[row] >= ADVICE_GAIN) &&
		    !(id == ADVICE_VECTORISE_SAMPLER && v->diagnosis->start_sampling_ns > 0))
			return 0;
	}
	if (removed.share > 0) {
		r = price_part(v, removed.share, ret);
		if (r == 0)
			r = extend(v, removed.needless, true, ret);
		/* The gain may be 0: perhaps all pages, parts of a file, or bytes are needed. */
		if (id == ADVICE_FAULT_LESS ||
		    (id == ADVICE_READ_LESS && v->diagnosis->grounds.received_again > 0) ||
		    (id == ADVICE_SPLIT_FIRST && !v->diagnosis->grounds.is_decoded_by_all))
			ret->low = 0;
		if (r == 0)
			r = widen_to_function(v, id, ret);
		if (r == 0)
			r = extend(v, removed.least, false, ret);
	} else if (id == ADVICE_VECTORISE_SAMPLER && v->diagnosis->start_sampling_ns > 0)
		ret->gain = gain_of(v->diagnosis->start_sampling_ns / v->finding->account.time_ns);
	else if (id == ADVICE_SKIP_IN_SAMPLER || id == ADVICE_DROP_PASSES)
		ret->gain = fmin(gain_of((id == ADVICE_DROP_PASSES
						  ? v->diagnosis->passes.time_ns
						  : v->diagnosis->skipped.wait_ns) /
					 v->finding->account.time_ns),
				 v->finding->gain_alone - 1);
	else if (id == ADVICE_MOVE_OUT_OF_PROCESS &&
		 share_of_cause(v->diagnosis, CAUSE_STEPS_HELD) > 0 &&
		 !(share_of_cause(v->diagnosis, CAUSE_INTERPRETER_HELD) > 0))
		price_held(v, ret);
	else if (id == ADVICE_REDUCE_MAIN_THREAD_EVENT)
		ret->gain = gain_of(share_of_pauses(v->diagnosis));
	if (isnan(ret->gain) && is_plain(v->diagnosis, id)) {
		ret->is_ideal = true;
		ret->gain = most_of(v, id);
	}
	return r;
}

static bool has(const struct advice_list *list, const struct advice *advice)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->steps[i].id == advice->id ||
		    (advice->whatif != NO_ROW && list->steps[i].whatif == advice->whatif))
			return true;
	return false;
}

bool advice_has(const struct advice_list *list, enum whatif_id id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->steps[i].whatif == (int)id)
			return true;
	return false;
}

static bool is_whole(enum advice_id id)
{
	return id == ADVICE_DECODE_BOUND || id == ADVICE_STORAGE_BOUND ||
	       id == ADVICE_SMALL_READS || id == ADVICE_FEWER_OPENS;
}

static bool is_much_waste(const struct advice *advice)
{
	return (ranks[advice->id] & WASTE) && advice->gain >= WASTE_GAIN;
}

/* Returns true if `advice` should move before `preferred`, which now stands before it. */
static bool is_better(const struct advice *advice, const struct advice *preferred)
{
	if (advice->is_ideal || preferred->is_ideal)
		return preferred->is_ideal && !advice->is_ideal;
	if (is_much_waste(advice) && (preferred->id == ADVICE_OWN_CORES ||
				      (preferred->id == ADVICE_MORE_LOADER_CAPACITY &&
				       preferred->low <= 0)))
		return true;
	if (advice->id == ADVICE_REDUCE_CPU_PER_BATCH || advice->id == ADVICE_CHEAPER_STAGE ||
	    (advice->id == ADVICE_OWN_CORES && is_much_waste(preferred)))
		return preferred->id == ADVICE_MORE_LOADER_CAPACITY && preferred->low <= 0 &&
		       advice->low > 0 && advice->gain >= preferred->gain;
	/* Removing a known part of the loads is easier than halving them, so it goes first. */
	if (preferred->id == ADVICE_REDUCE_CPU_PER_BATCH && advice->whatif == NO_ROW)
		return ALIKE * (1 + fmax(advice->gain, advice->high)) >= 1 + preferred->gain;
	if (ranks[preferred->id] & FIRST)
		return false;
	/* Advice that surely helps goes before advice that may bring nothing. */
	if (advice->low > 0 && preferred->low <= 0 && advice->gain >= preferred->gain)
		return true;
	/* Needless work can be removed entirely, unlike decoding or reading (is_whole()). */
	if (ranks[preferred->id] & WASTE)
		return !is_whole(advice->id) &&
		       1 + advice->gain > ALIKE * (1 + fmax(preferred->gain, preferred->high));
	return 1 + advice->gain > ALIKE * (1 + preferred->gain);
}

/* Inserts by gain. A first upper bound stays, save INSPECT_WAITS or FIND_EVENT of lower gain. */
static void insert(struct advice_list *list, const struct advice *advice)
{
	size_t at;

	if (!(advice->is_ideal || advice->gain >= ADVICE_GAIN) ||
	    advice->gain < ADVICE_GAIN || has(list, advice))
		return;
	if (list->count == ADVICE_MOST) {
		if (!is_better(advice, &list->steps[ADVICE_MOST - 1]))
			return;
		list->count--;
	}
	for (at = list->count++; at > 0 && is_better(advice, &list->steps[at - 1]); at--) {
		if (at == 1 && list->steps[0].is_ideal &&
		    list->steps[0].id != ADVICE_INSPECT_WAITS &&
		    (list->steps[0].id != ADVICE_FIND_EVENT || list->steps[0].gain >= advice->gain))
			break;
		list->steps[at] = list->steps[at - 1];
	}
	list->steps[at] = *advice;
}

static int add_step(const struct remedied *v, enum advice_id id, struct advice_list *list)
{
	struct advice advice;
	int r = price(v, id, &advice);

	if (r == 0)
		insert(list, &advice);
	return r;
}

/* Adds the remedies of a cause. ADVICE_INSPECT_x is added only if there is no other advice. */
static int add_remedies(const struct remedied *v, enum cause cause, struct advice_list *list)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < REMEDIES && PREFERRED[cause][i] != ADVICE_NONE; i++) {
		enum advice_id id = PREFERRED[cause][i];

		if (!list->count || (id != ADVICE_INSPECT_LOADS && id != ADVICE_INSPECT_WAITS))
			r = add_step(v, id, list);
	}
	return r;
}

static bool is_about_loads(enum cause cause)
{
	return cause == CAUSE_LOADER_CAPACITY || cause == CAUSE_CPU_CONTENTION ||
	       cause == CAUSE_SINGLE_PROCESS || cause == CAUSE_WORKER_INTERPRETER;
}

static int add_parts(const struct remedied *v, struct advice_list *list)
{
	const struct load_times *loads = v->input->loads;
	const struct diagnosis *d = v->diagnosis;
	int r = 0;

	if (!loads || (!is_about_loads(d->cause) && !is_about_loads(d->second)))
		return 0;
	if (!(d->grounds.drawn > 0) &&
	    load_decode_share(loads) >=
		    (removed_by(v, ADVICE_DECODE_BOUND).needless > 0 ? READING_LEAST : LOAD_LEAST))
		r = add_step(v, ADVICE_DECODE_BOUND, list);
	/* "Read whole files" would be wrong where loads already read more than they need. */
	if (r == 0 && load_read_share(loads) >= LOAD_LEAST &&
	    (load_opens_most(loads) || !load_reads_small(loads) || !applies(v, ADVICE_READ_LESS)))
		r = add_step(v,
			     load_opens_most(loads)    ? ADVICE_FEWER_OPENS
			     : load_reads_small(loads) ? ADVICE_SMALL_READS
						       : ADVICE_STORAGE_BOUND,
			     list);
	return r;
}

static int add_others(const struct remedied *v, struct advice_list *list)
{
	const struct whatif *whatif = &v->diagnosis->whatif;
	int r = 0;

	if (v->diagnosis->second != CAUSE_UNKNOWN)
		r = add_remedies(v, v->diagnosis->second, list);
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(OTHERS); i++) {
		int row = row_of(whatif, OTHERS[i]);

		if (row != NO_ROW && whatif->gain[row] >= ADVICE_GAIN)
			r = add_step(v, OTHERS[i], list);
	}
	return r;
}

/* Advises pinned memory or, if most is pinned, copies beside kernels, if there are enough. */
static void add_copies(const struct gpu_use *gpu, struct advice_list *list)
{
	const bool is_pinned = gpu->pageable_share < PAGEABLE_LEAST;
	const double alone = gpu->exposed_share, most = is_pinned ? gpu->busy_share : alone;
	const struct advice advice = {is_pinned ? ADVICE_HIDE_COPIES : ADVICE_PAGEABLE_H2D, NO_ROW,
				      gain_of(most < alone ? most : alone), NAN, NAN, is_pinned};

	insert(list, &advice);
}

/* Inserts an advice at index `at`. A full list loses its last remedy. */
static void put_at(size_t at, const struct advice *advice, struct advice_list *list)
{
	list->count -= list->count == ADVICE_MOST;
	memmove(&list->steps[at + 1], &list->steps[at], (list->count++ - at) * sizeof(*advice));
	list->steps[at] = *advice;
}

/*
 * Adds advice to look at the steps. If lines_of_step() finds a line, the advice goes first. It goes
 * second if logging, saving, held steps or work around the loader is the cause, or if the first
 * remedy surely gains WORTH. Without such a line, it is added only if little time is waiting, after
 * a remedy with a gain.
 */
static void add_step_line(const struct remedied *v, struct advice_list *list)
{
	const enum cause cause = v->diagnosis->cause;
	const struct advice *first = list->count ? &list->steps[0] : NULL;
	const bool is_second = first && (cause == CAUSE_LOGGING || cause == CAUSE_SAVING ||
					 cause == CAUSE_STEPS_HELD ||
					 cause == CAUSE_AROUND_LOADER ||
					 (!first->is_ideal && first->low >= WORTH));
	const struct advice advice = {ADVICE_CHEAPER_STEP, NO_ROW, NAN, NAN, NAN, false};

	if (lines_of_step(v->input->lines, v->finding->stall_ratio)) {
		if (list->count < ADVICE_MOST || cause == CAUSE_STEP_LINE)
			put_at(is_second, &advice, list);
	} else if (v->finding->starved && v->finding->stall_ratio < LITTLE_WAITING &&
		   !v->finding->by_gpu && list->count < ADVICE_MOST) {
		put_at(list->count && !list->steps[0].is_ideal, &advice, list);
	}
}

/*
 * Adds an advice if the GPU mostly idles because the host gives it no work (gpu_use.h). If the
 * training also starves, the list's first remedy with a gain goes before this advice.
 */
static void add_lack(const struct remedied *v, struct advice_list *list)
{
	static const enum advice_id ids[GPU_LACK_MAX] = {
		[GPU_LACK_LAUNCHES] = ADVICE_LAUNCH_LESS,
		[GPU_LACK_ORDERS] = ADVICE_WAIT_FOR_GPU_LESS,
	};
	const struct gpu_use *gpu = v->input->gpu;
	struct advice advice = {ADVICE_NONE, NO_ROW, NAN, NAN, NAN, false};
	size_t at = 0;

	if (!gpu || !v->finding->by_gpu || !ids[gpu->lack])
		return;
	advice.id = ids[gpu->lack];
	for (size_t i = 0; v->finding->starved && i < list->count && !at; i++)
		at = list->steps[i].gain > 0 ? i + 1 : 0;
	if (at < ADVICE_MOST)
		put_at(at, &advice, list);
}

/*
 * Puts REDUCE_CPU_PER_BATCH before workers that gain little more, if the user's own code leads.
 * Else puts it before workers that gain less, if more than half of one function may be saved.
 */
static void lead_with_code(const struct diagnosis *d, struct advice_list *list)
{
	struct advice *steps = list->steps, first = steps[0];

	if (first.id != ADVICE_USE_WORKERS && first.id != ADVICE_MORE_LOADER_CAPACITY)
		return;
	for (size_t i = 1; i < list->count; i++)
		if (steps[i].id == ADVICE_REDUCE_CPU_PER_BATCH &&
		    (d->grounds.is_own_code ? first.gain < MUCH_MORE * steps[i].gain
					    : steps[i].is_open && first.gain < steps[i].gain)) {
			steps[0] = steps[i];
			steps[i] = first;
			return;
		}
}

int advice_give(const struct batch_series *series, const struct finding *finding,
		const struct cause_input *input, struct diagnosis *d)
{
	const struct remedied view = {series, finding, input, d};
	struct advice_list *list = &d->advice;
	int r = 0;

	memset(list, 0, sizeof(*list));
	if (d->cause == CAUSE_UNKNOWN)
		return 0;
	r = add_remedies(&view, d->cause, list);
	if (d->cause != CAUSE_SKIPPED_BATCHES) {
		if (r == 0)
			r = add_parts(&view, list);
		if (r == 0 && finding->starved)
			r = add_others(&view, list);
	}
	lead_with_code(d, list);
	if (input->gpu && input->gpu->exposed_share > 0 && !isnan(input->gpu->pageable_share))
		add_copies(input->gpu, list);
	add_step_line(&view, list);
	add_lack(&view, list);
	if (!list->count)
		list->steps[list->count++] =
			(struct advice){ADVICE_NONE, NO_ROW, NAN, NAN, NAN, false};
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "render/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/advice.h"
#include "analysis/stats.h"
#include "render/explain.h"
#include "render/screen.h"
#include "render/units.h"

#define MOST_NAMED     4 /* slow workers */
#define ETA_SERIOUS    0.9
#define FEW_TENSORS_NS 3e6  /* a shorter hand-over is that of a few tensors */
#define UNDELAYED      0.25 /* of the batches */
#define LONG_STEP      0.1  /* of the time */

/* "Worker 3 takes", "Workers 1, 4 and 6 take", "16 of 32 workers take". */
static void add_slow_workers(const struct report *report, char *text, size_t size)
{
	const struct slow_workers *slow = &report->diagnosis.slow;

	if (slow->count > MOST_NAMED) {
		page_append(text, size, " %zu of %" PRId32 " workers take", slow->count,
			    report->series.workers);
		return;
	}
	page_append(text, size, slow->count > 1 ? " Workers" : " Worker");
	for (size_t i = 0; i < slow->count; i++)
		page_append(text, size, "%s %d",
			    !i                    ? ""
			    : i + 1 < slow->count ? ","
						  : " and",
			    slow->list[i]);
	page_append(text, size, slow->count > 1 ? " take" : " takes");
}

const char *evidence_taker(const struct report *report)
{
	return report->finding.account.count > report->finding.own.count ? "this loop"
									 : "the training";
}

static void add_capacity(const struct report *report, char *text, size_t size)
{
	const struct diagnosis *d = &report->diagnosis;
	const struct finding *f = &report->finding;

	if (d->shift.at)
		page_append(text, size, " From about batch %zu on loads take %s, before %s.",
			    d->shift.at, UNITS_TIME(d->shift.after_ns),
			    UNITS_TIME(d->shift.before_ns));
	else if (!isnan(f->rho))
		page_append(text, size, " %" PRId32 " worker%s %s batches/s, %s would take %s.",
			    report->series.workers,
			    report->series.workers == 1 ? " loads" : "s load",
			    UNITS_RATE(report->series.workers / f->load_mean_ns * NS_PER_S),
			    evidence_taker(report), UNITS_RATE(NS_PER_S / f->demand_mean_ns));
	if (d->cause == CAUSE_CPU_CONTENTION)
		page_append(text, size, " They use %s of %s%.3g cores.", UNITS_SHARE(d->cpu_share),
			    advise_others(report) ? "what others leave of " : "",
			    report->series.cores);
	else if (f->eta < ETA_SERIOUS &&
		 !(d->whatif.gain[WHATIF_IN_ORDER_FALSE] < ADVICE_GAIN))
		page_append(text, size,
			    " Handing out in order costs another %s, because loads differ.",
			    UNITS_SHARE(1 - f->eta));
}

static void add_cold(const struct cold *cold, char *text, size_t size)
{
	page_append(text, size, " Its loads take %s, later ones %s",
		    UNITS_TIME(cold->first_load_ns), UNITS_TIME(cold->later_load_ns));
	page_append(text, size,
		    "; for %s of its time the training waits for unfinished batches, later for %s.",
		    UNITS_SHARE(cold->first_ratio), UNITS_SHARE(cold->later_ratio));
}

/* What is one part of the bar has its figure. */
static const char *cost_share(const struct report *report, const struct cause_cost *cost,
			      char buffer[UNITS_MAX])
{
	if (cost->cause == CAUSE_DELIVERY)
		return screen_share(&report->finding.account, ACCOUNT_RECEIVING, buffer);
	return units_share(buffer, cost->share);
}

/* What the first cause cost. */
static void add_cost(const struct report *report, char *text, size_t size)
{
	const struct cause_cost *cost = &report->diagnosis.causes[0];
	char share[UNITS_MAX];

	page_append(text, size, " %s %s, %s of the time.",
		    cost->cause == CAUSE_ISOLATED_STALL ? "They take" : "It takes",
		    UNITS_TIME(cost->ns), cost_share(report, cost, share));
}

static void add_first(const struct report *report, char *text, size_t size)
{
	const struct diagnosis *d = &report->diagnosis;

	switch (d->cause) {
	case CAUSE_LOADER_CAPACITY:
	case CAUSE_CPU_CONTENTION:
		add_capacity(report, text, size);
		break;
	case CAUSE_SLOW_WORKER:
		add_slow_workers(report, text, size);
		page_append(text, size,
			    " %.2g times as long as the others; %s of the waiting is for %s "
			    "batches.",
			    d->slow.factor, UNITS_SHARE(d->slow.share),
			    d->slow.count > 1 ? "their" : "its");
		break;
	case CAUSE_HEAD_OF_LINE:
		page_append(text, size,
			    " For %s of the waiting a later batch was already finished.",
			    UNITS_SHARE(d->queued_share));
		break;
	case CAUSE_COLD_CACHE:
		add_cold(&d->cold, text, size);
		break;
	case CAUSE_PERIODIC_SLOW_LOAD:
		if (d->slow.every > 0)
			page_append(text, size,
				    " In every group of %" PRId32
				    " batches the same ones take %.2g times as long as the others.",
				    d->slow.every, d->slow.factor);
		break;
	case CAUSE_EPOCH_START:
	case CAUSE_DELIVERY:
	case CAUSE_ISOLATED_STALL:
	case CAUSE_MAIN_THREAD_PERIODIC:
		add_cost(report, text, size);
		break;
	case CAUSE_INTERMITTENT_LOADER:
	case CAUSE_SINGLE_PROCESS:
	case CAUSE_UNSEEN_LOADER:
	case CAUSE_NONE:
	case CAUSE_UNKNOWN:
	case CAUSE_MAX:
		break;
	}
}

static const char *const NOUNS[CAUSE_MAX] = {
	[CAUSE_LOADER_CAPACITY] = "workers that cannot keep up",
	[CAUSE_CPU_CONTENTION] = "cores that are used up",
	[CAUSE_SLOW_WORKER] = "slow workers",
	[CAUSE_PERIODIC_SLOW_LOAD] = "slow loads every so many batches",
	[CAUSE_HEAD_OF_LINE] = "batches stuck behind a slower one",
	[CAUSE_INTERMITTENT_LOADER] = "workers that are all slow at times",
	[CAUSE_COLD_CACHE] = "the first epoch's cold data",
	[CAUSE_EPOCH_START] = "starting and ending epochs",
	[CAUSE_DELIVERY] = "receiving finished batches",
	[CAUSE_ISOLATED_STALL] = "a few single waits",
	[CAUSE_MAIN_THREAD_PERIODIC] = "pauses of the training itself",
	[CAUSE_SINGLE_PROCESS] = "loading without workers",
	[CAUSE_UNSEEN_LOADER] = "batches that come too late",
};

static int rank_of(double stall_ratio)
{
	return (stall_ratio >= STALL_MODERATE) + (stall_ratio >= STALL_HIGH);
}

bool evidence_add_step(const struct report *report, char *text, size_t size)
{
	const struct account *a = &report->finding.account;
	const struct batch_series *s = &report->series;
	double longest_ns = 0, ratio;

	/* What passes in the steps of a loader may be waits for another one. */
	if (a->count > report->finding.own.count || !s->compute_ns)
		return false;
	for (size_t i = 0; i < s->count; i++)
		longest_ns = fmax(longest_ns, (double)s->compute_ns[i]);
	ratio = a->wait_ns / (a->time_ns - longest_ns);
	if (!(longest_ns >= LONG_STEP * a->time_ns && longest_ns < a->time_ns) ||
	    rank_of(ratio) == rank_of(a->wait_ns / a->time_ns))
		return false;
	page_append(text, size,
		    "Without one step of %s (compiling a model?) %s of the time would be waiting: "
		    "let it run longer.",
		    UNITS_TIME(longest_ns), UNITS_SHARE(ratio));
	return true;
}

void evidence_add(const struct report *report, char *text, size_t size)
{
	const struct diagnosis *d = &report->diagnosis;
	char share[UNITS_MAX];

	add_first(report, text, size);
	/* The verdict is about waiting. */
	if (d->cause == CAUSE_MAIN_THREAD_PERIODIC && report->finding.starved && d->cause_count > 1)
		page_append(text, size,
			    " That is time of steps; most of the waiting is %s, %s of the time.",
			    NOUNS[d->causes[1].cause], cost_share(report, &d->causes[1], share));
	else if (d->second != CAUSE_UNKNOWN)
		page_append(text, size, " Also: %s, %s of the time.", NOUNS[d->second],
			    cost_share(report, &d->causes[1], share));
}

/* What receiving a batch takes if nothing delays it, as a busy machine does; NAN: not known. */
static double handover_ns(const struct report *report)
{
	const struct batch_series *s = &report->series;
	const struct stats_column column = {.values = s->handover_ns,
					    .count = s->handover_ns ? s->count : 0};
	struct stats_order order;

	stats_order_init(&order, &column);
	return stats_order_quantile(&order, UNDELAYED);
}

static bool has_few_tensors(const struct report *report)
{
	return handover_ns(report) < FEW_TENSORS_NS;
}

static int32_t prefetch_factor(const struct report *report)
{
	return report->diagnosis.whatif.setups[WHATIF_PREFETCH_X4].prefetch_factor;
}

/* An import does not say whose loader it was. */
static bool is_torch(const struct report *report)
{
	const char *kind = report->loader ? report->loader->kind : "";

	return !*kind || strncmp(kind, "torch", strlen("torch")) == 0;
}

static bool is_kind(const struct report *report, const char *kind)
{
	return report->loader && strcmp(report->loader->kind, kind) == 0;
}

const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer)
{
	const char *line = explain_find(advice_names[advice->id])->line;

	if (advice->id == ADVICE_USE_WORKERS && !is_torch(report))
		return "Load beside the training, in threads or processes.";
	if (advice->id == ADVICE_MARK_LOADS && is_kind(report, "marks"))
		return "Make the loader faster; mark its loads (dlprof.h) to see how.";
	if (advice->whatif == WHATIF_IN_ORDER_FALSE)
		return "Hand out finished batches out of order: in_order=False.";
	if (advice->whatif == WHATIF_PREFETCH_X4) {
		snprintf(buffer, REMEDY_WORDS, "Load further ahead: prefetch_factor=%" PRId32 ".",
			 prefetch_factor(report));
		return buffer;
	}
	if (advice->id == ADVICE_REDUCE_DELIVERY_COST && has_few_tensors(report))
		return "Make receiving finished batches cheaper.";
	return line;
}

static void workers_words(const struct report *report, int32_t workers, const char *what,
			  char *buffer)
{
	if (is_torch(report))
		snprintf(buffer, REMEDY_WORDS,
			 "DataLoader(..., num_workers=%" PRId32
			 ") or a Trainer's dataloader_num_workers=%" PRId32 " %s.",
			 workers, workers, what);
	else
		snprintf(buffer, REMEDY_WORDS, "In all, %" PRId32 " worker%s %s.", workers,
			 workers == 1 ? "" : "s", what);
}

/* The two largest parts of the loads, by name or, where there are no names, by column. */
static void loads_words(const struct report *report, char *buffer)
{
	const struct load_totals *totals = &report->totals;
	const struct inside_largest columns[] = {
		{"opening files", totals->open_ns},
		{"reading", totals->read_ns},
		{"decoding", totals->decode_ns},
		{"collating", totals->collate_ns},
		{"the dataset's own code", totals->other_ns},
	};
	struct inside_largest top[2] = {{"", 0}, {"", 0}};
	double all_ns = (double)report->inside.loads.load_ns;

	if (!inside_find_largest(&report->inside, top)) {
		all_ns = (double)totals->load_ns;
		for (size_t i = 0; i < ARRAY_COUNT(columns); i++)
			inside_take_largest(top, &columns[i]);
	}
	if (top[1].ns <= 0 || !(all_ns > 0))
		return;
	snprintf(buffer, REMEDY_WORDS,
		 "Their largest parts are %.80s (%s) and %.80s (%s); dlprof-report -v names files "
		 "and samples.",
		 top[0].name, UNITS_SHARE((double)top[0].ns / all_ns), top[1].name,
		 UNITS_SHARE((double)top[1].ns / all_ns));
}

static void few_tensors_words(const struct report *report, char *buffer)
{
	if (advise_others(report))
		snprintf(buffer, REMEDY_WORDS,
			 "A batch takes %s if nothing delays it, but other programs took %.2g of "
			 "the %.3g cores: give the training cores of its own.",
			 UNITS_TIME(handover_ns(report)), report->series.other_cores,
			 report->series.cores);
	else
		snprintf(buffer, REMEDY_WORDS,
			 "A batch takes %s if nothing delays it, as few tensors do: make fewer, "
			 "larger batches, or with a GPU pass pin_memory=True, so that a thread "
			 "receives them.",
			 UNITS_TIME(handover_ns(report)));
}

const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer)
{
	const struct whatif *whatif = &report->diagnosis.whatif;
	const struct finding *f = &report->finding;

	*buffer = '\0';
	/* Fewer are enough if none of them is slow. */
	if (advice->whatif == WHATIF_WORKERS_X2 && whatif->needed_workers > report->series.workers)
		workers_words(report, whatif->needed_workers, "would be enough", buffer);
	else if (advice->id == ADVICE_MORE_LOADER_CAPACITY && report->series.workers > 0)
		workers_words(report, 2 * report->series.workers, "would double them", buffer);
	else if (advice->id == ADVICE_USE_WORKERS && whatif->use_workers > 0)
		workers_words(report, whatif->use_workers,
			      is_torch(report) ? "would load beside the training"
					       : "would be enough",
			      buffer);
	else if (advice->id == ADVICE_MARK_LOADS && is_kind(report, "batch_fn") &&
		 report->loader_count == 1)
		return "Let it load beside the training, in threads or processes; of a PyTorch "
		       "DataLoader dlprof sees the loads, too.";
	else if (advice->whatif == WHATIF_IN_ORDER_FALSE)
		return "DataLoader(..., in_order=False), since PyTorch 2.6, hands out whatever is "
		       "finished.";
	else if (advice->whatif == WHATIF_PREFETCH_X4)
		snprintf(buffer, REMEDY_WORDS,
			 "DataLoader(..., prefetch_factor=%" PRId32 ") keeps %" PRId32
			 " batches a worker ready; the default is 2.",
			 prefetch_factor(report), prefetch_factor(report));
	else if (advice->id == ADVICE_REDUCE_DELIVERY_COST && has_few_tensors(report))
		few_tensors_words(report, buffer);
	else if ((advice->id == ADVICE_PERSISTENT_WORKERS || advice->id == ADVICE_CHEAPER_STARTS) &&
		 f->epoch_count == f->batch_count)
		return "Call iter(loader) once, before the loop, and next() in it: here each batch "
		       "has an iterator of its own.";
	else if (advice->id == ADVICE_INSPECT_LOADS ||
		 (advice->id == ADVICE_REDUCE_CPU_PER_BATCH && !report->totals.decode_ns))
		loads_words(report, buffer);
	return *buffer ? buffer : explain_find(advice_names[advice->id])->how;
}

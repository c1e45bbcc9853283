/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/cause/grounds.h"
#include "render/form/units.h"
#include "render/run/code.h"
#include "render/run/explain.h"

#define MOST_NAMED     4
#define ETA_SERIOUS    0.9
#define MOST_KERNELS   1e15 /* a file with more kernels is damaged */
#define LONG_STEP      0.1
#define FIRST_LONG     10.0
#define FIRSTS_LEAD    0.5
#define LONG_STEPS 1.2
#define OTHERWISE      1.25
/* Loads that sleep may wait for sockets that bring at least this share of a batch's bytes. */
#define RECEIVED_LEAST 0.5

static void add_workers(const int16_t *list, size_t count, struct text *text)
{
	text_add(text, count > 1 ? " Workers" : " Worker");
	for (size_t i = 0; i < count; i++)
		text_add(text, "%s %d", !i ? "" : i + 1 < count ? "," : " and", list[i]);
}

static void add_slow_workers(const struct report *report, struct text *text)
{
	const struct slow_workers *slow = &report->diagnosis.slow;

	if (slow->count > MOST_NAMED) {
		text_add(text, " %zu of %" PRId32 " workers take", slow->count,
			 report->series.workers);
		return;
	}
	add_workers(slow->list, slow->count, text);
	text_add(text, slow->count > 1 ? " take" : " takes");
}

static void add_uneven(const struct report *report, struct text *text)
{
	const struct uneven *u = &report->diagnosis.uneven;

	if (u->named)
		add_workers(u->list, u->named, text);
	else
		text_add(text, " In each epoch %" PRId32 " of %" PRId32 " workers", u->loading,
			 report->series.workers);
	text_add(text, " make%s %s of the batches.", u->named == 1 ? "s" : "",
		 UNITS_SHARE(u->share));
	text_add(text, " From about batch %.0f of %.0f on only %" PRId32 " of %" PRId32
		 " workers load%s; %s of the waiting%s comes after that.", u->begin, u->batches,
		 u->loading, report->series.workers, u->loading == 1 ? "s" : "",
		 UNITS_SHARE(u->wait_share),
		 grounds_is_asking(&report->diagnosis.grounds) ? "" : " for unfinished batches");
}

const char *evidence_taker(const struct report *report)
{
	return report->finding.account.count > report->finding.own.count ? "this loop"
									 : "the training";
}

static void add_capacity(const struct report *report, struct text *text)
{
	const struct diagnosis *d = &report->diagnosis;
	const struct finding *f = &report->finding;
	/* CPU time and wall time are read one after the other, so the share may exceed 1. */
	const char *cpu_words = d->cpu_share > 1 ? "all" : UNITS_SHARE(d->cpu_share);

	if (d->shift.at)
		text_add(text, " From about batch %zu on loads take %s, before %s.", d->shift.at,
			 UNITS_TIME(d->shift.after_ns), UNITS_TIME(d->shift.before_ns));
	else if (!isnan(f->rho))
		text_add(text, " %" PRId32 " worker%s %s batches/s, %s%s would take%s %s.",
			 report->series.workers, report->series.workers == 1 ? " loads" : "s load",
			 UNITS_RATE(NS_PER_S / f->taken_mean_ns / f->rho),
			 f->rho < 1 ? "hardly more than " : "", evidence_taker(report),
			 f->rho < 1 ? ":" : "", UNITS_RATE(NS_PER_S / f->taken_mean_ns));
	if (d->cause == CAUSE_CPU_CONTENTION && d->grounds.starts_programs)
		text_add(text, " With programs that they start they use %s of what others leave of "
			 "%.3g cores.", cpu_words, report->series.cores);
	else if (d->cause == CAUSE_CPU_CONTENTION)
		text_add(text, " They use %s of %s%.3g core%s.", cpu_words,
			 series_has_others(&report->series) ? "what others leave of " : "",
			 report->series.cores, report->series.cores == 1 ? "" : "s");
	else if (f->eta < ETA_SERIOUS &&
		 d->whatif.gain[WHATIF_IN_ORDER_FALSE] >= ADVICE_GAIN)
		text_add(text, " Handing out in order costs another %s, because loads differ.",
			 UNITS_SHARE(1 - f->eta));
	if (grounds_is_asking(&d->grounds) &&
	    f->account.part_ns[ACCOUNT_RECEIVING] > f->account.part_ns[ACCOUNT_NOT_READY])
		text_add(text, " Receiving waits, too, as a worker answers late while it loads: %s "
			 "for each descriptor.", UNITS_TIME(d->grounds.fetch.each_ns));
}

static const char *line_of_cause(const struct report *report)
{
	const struct diagnosis *d = &report->diagnosis;

	if (d->cause == CAUSE_LOADER_CAPACITY && !d->shift.at && report->finding.rho < 1)
		return "The workers can hardly keep up with the training.";
	if (d->cause == CAUSE_SHARED_LIMIT && isnan(d->grounds.shared_per_s))
		return d->grounds.takes_turns
			       ? "The workers take turns at one queue or pipe, and wait for what "
				 "comes out of it."
		       : d->grounds.is_helper_busy
			       ? "The workers wait for one process, which has no time left."
			       : "The workers write to one pipe or terminal, which is read slowly.";
	if (d->cause == CAUSE_SAMPLER && 2 * d->start_sampling_ns >= d->causes[0].ns)
		return "Choosing the samples of an epoch takes the time, in the training's own "
		       "process, before its first batch.";
	return explain_find(cause_names[d->cause])->line;
}

void evidence_add_line(const struct report *report, struct text *text)
{
	const struct diagnosis *d = &report->diagnosis;

	/* These causes' sentences do not say what takes the time, so name a function first. */
	if ((d->cause == CAUSE_LOADER_CAPACITY || d->cause == CAUSE_CPU_CONTENTION) &&
	    code_add_leader(report, LINE_LOADS, true, text))
		text_add(text, " takes most of a load: the workers %s keep up.",
			 report->finding.rho < 1 ? "can hardly" : "cannot");
	else if (d->cause == CAUSE_SINGLE_PROCESS &&
		 code_add_leader(report, LINE_LOADS, true, text))
		text_add(text, " takes most of a load, and the loader has no workers: every batch "
			 "is loaded while the training stands still.");
	else if (d->cause == CAUSE_LOGGING && code_add_leader(report, LINE_AFTERS, true, text))
		text_add(text, " takes most of what the training does %s.",
			 step_place(report, STEP_AFTER));
	else
		text_add(text, "%s", line_of_cause(report));
}

static void add_cold(const struct cold *cold, struct text *text)
{
	text_add(text, " Its loads take %s, later ones %s", UNITS_TIME(cold->first_load_ns),
		 UNITS_TIME(cold->later_load_ns));
	text_add(text, "; for %s of its time the training waits for unfinished batches, later for "
		 "%s.", UNITS_SHARE(cold->first_ratio), UNITS_SHARE(cold->later_ratio));
}

/* Writes a cost's share of the time. If the account's bar has the cost, both are rounded alike. */
static const char *cost_share(const struct report *report, const struct cause_cost *cost,
			      char buffer[UNITS_MAX])
{
	const struct account *account = &report->finding.account;

	if (cost->cause == CAUSE_DELIVERY || cost->cause == CAUSE_WORKER_INTERPRETER)
		return shares_of(account, ACCOUNT_RECEIVING, buffer);
	if (cost->cause == CAUSE_SAMPLER && !(report->diagnosis.start_sampling_ns > 0))
		return shares_of(account, ACCOUNT_SAMPLING, buffer);
	return units_share(buffer, cost->share);
}

static void add_cost(const struct report *report, struct text *text)
{
	const struct cause_cost *cost = &report->diagnosis.causes[0];
	char share[UNITS_MAX];

	text_add(text, " %s %s, %s of the time.",
		 cost->cause == CAUSE_ISOLATED_STALL ? "They take" : "It takes",
		 UNITS_TIME(cost->ns), cost_share(report, cost, share));
}

double evidence_first_loads(const struct report *report, size_t *ret_count)
{
	const struct batch_series *s = &report->series;
	struct series_place at = SERIES_BEGIN;
	double ns = 0;

	*ret_count = 0;
	while (s->load_ns && s->epoch_count && series_next(s, &at)) {
		if (at.epoch == s->epochs[0].epoch || at.batch >= s->workers ||
		    !series_has(s->load_ns, at.i))
			continue;
		ns += (double)s->load_ns[at.i];
		++*ret_count;
	}
	ns /= (double)*ret_count;
	return ns >= FIRST_LONG * report->finding.load_mean_ns ? ns : NAN;
}

bool evidence_firsts_lead(const struct report *report)
{
	size_t count;
	const double ns = evidence_first_loads(report, &count);

	return ns * (double)count >= FIRSTS_LEAD * (double)report->totals.load_ns;
}

static const char *ordinal(int64_t number, char buffer[32])
{
	static const char *const endings[] = {"th", "st", "nd", "rd"};
	const int64_t last = number % 100 / 10 == 1 ? 0 : number % 10;

	snprintf(buffer, 32, "%" PRId64 "%s", number, endings[last < 4 ? last : 0]);
	return buffer;
}

/* If a step follows only each n-th batch, says so: the training seems to join n batches. */
static void add_gathered(const struct report *report, struct text *text)
{
	char buffer[32];

	if (report->diagnosis.gathered > 0)
		text_add(text, " Only each %s batch is followed by a step.",
			 ordinal(report->diagnosis.gathered, buffer));
}

static void add_start(const struct report *report, struct text *text)
{
	size_t count;
	const double first_ns = evidence_first_loads(report, &count);

	if (!isnan(first_ns))
		text_add(text, " A worker's first load of an epoch takes %s, others %s.",
			 UNITS_TIME(first_ns), UNITS_TIME(report->finding.load_mean_ns));
}

static void add_outside(const struct report *report, struct text *text)
{
	const struct grounds *r = &report->diagnosis.grounds;
	const struct load_facts *facts = r->facts;
	const double loads = (double)report->totals.load_count;
	static const char *const words[LOAD_WAIT_MAX] = {
		[LOAD_WAIT_ASLEEP] = "asleep",
		[LOAD_WAIT_THREAD] = "waiting for other threads",
		[LOAD_WAIT_SOCKET] = "waiting for sockets",
		[LOAD_WAIT_PIPE] = "waiting for pipes",
		[LOAD_WAIT_WRITE] = "waiting to write to pipes that are read slowly",
		[LOAD_WAIT_PROGRAM] = "waiting for programs that it starts",
		[LOAD_WAIT_SYNC] = "waiting for written data to reach the disk",
	};
	const struct load_peer *peer = facts && facts->peer_count ? &facts->peers[0] : NULL;

	if (!facts || !(facts->load_ns > 0))
		return;
	if (r->fault_share >= GROUNDS_OUTSIDE) {
		text_add(text, " A load waits in page faults of %s in %s of its time.",
			 *facts->mapped ? facts->mapped : "mapped files",
			 UNITS_SHARE(facts->wait_ns[LOAD_WAIT_FAULT] / facts->load_ns));
		return;
	}
	if (peer && *peer->name && peer->ns >= GROUNDS_OUTSIDE * facts->load_ns) {
		text_add(text, " A load waits %s%s in %s of its time",
			 peer->kind == LOAD_WAIT_WRITE ? "to write to "
			 : r->is_managed               ? "for a multiprocessing.Manager, "
						       : "for ",
			 peer->kind == LOAD_WAIT_PIPE ? "a process at the other end of a pipe"
			 : strncmp(peer->name, "pipe:", 5) == 0 ? "a pipe"
								: peer->name,
			 UNITS_SHARE(peer->ns / facts->load_ns));
		if (peer->kind == LOAD_WAIT_SOCKET && report->loader_count == 1 &&
		    loads > 0 && peer->count >= 2 * loads)
			text_add(text, " (%.0f waits)", peer->count / loads);
		text_add(text, ".");
		return;
	}
	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++)
		if (words[kind] && facts->wait_ns[kind] >= GROUNDS_OUTSIDE * facts->load_ns)
			text_add(text, " A load is %s in %s of its time.", words[kind],
				 UNITS_SHARE(facts->wait_ns[kind] / facts->load_ns));
	if (facts->wait_ns[LOAD_WAIT_ASLEEP] >= GROUNDS_OUTSIDE * facts->load_ns &&
	    facts->received_per_byte >= RECEIVED_LEAST)
		text_add(text, " Meanwhile %s bytes come from sockets for each byte of a batch: it "
			 "may sleep until they are there.", UNITS_RATE(facts->received_per_byte));
	if (facts->wait_ns[LOAD_WAIT_THREAD] >= GROUNDS_OUTSIDE * facts->load_ns &&
	    facts->runnable_threads < GROUNDS_HARDLY_RUN) {
		text_add(text, " These hardly run, so they wait, too");
		if (facts->wait_bytes[LOAD_WAIT_THREAD] > 0 && facts->received_per_byte > 0)
			text_add(text, ", for %s a batch from sockets",
				 UNITS_BYTES(facts->received_per_byte * facts->batch_bytes));
		text_add(text, ".");
	}
}

/* Semaphores have no name. So a file's lock is named only if half of the waiting is for it. */
static void add_lock(const struct grounds *r, struct text *text)
{
	const struct load_peer *lock = load_facts_peer(r->facts, LOAD_WAIT_LOCK);
	const bool is_named = lock && 2 * lock->ns >= r->facts->wait_ns[LOAD_WAIT_LOCK];

	text_add(text, " That takes %s of the loads' time%s%s.", UNITS_SHARE(r->lock_share),
		 is_named ? ": " : "", is_named ? lock->name : "");
}

static void add_samples(const struct report *report, struct text *text)
{
	const struct grounds *r = &report->diagnosis.grounds;

	text_add(text, " %zu of them take%s %s each (the mean is %s): %s of all loading",
		 r->samples.count, r->samples.count == 1 ? "s" : "", UNITS_TIME(r->samples.each_ns),
		 UNITS_TIME(r->samples.mean_ns), UNITS_SHARE(r->samples.share));
	if (r->samples.asleep_share >= r->samples.share / 2)
		text_add(text, ", asleep in %s", UNITS_SHARE(r->samples.asleep_share));
	text_add(text, ".");
}

static void add_holder(const struct report *report, struct text *text)
{
	const struct grounds *r = &report->diagnosis.grounds;

	/* A thread called "python" has the program's name, and none of its own. */
	if (r->holder.cpu_ns > 0)
		text_add(text, " %s%.16s used %s of CPU%s",
			 strncmp(r->holder.name, "python", 6) == 0 ? "That thread" : "Thread ",
			 strncmp(r->holder.name, "python", 6) == 0 ? "" : r->holder.name,
			 UNITS_TIME(r->holder.cpu_ns), r->holder.is_line ? "" : ".");
	if (!r->holder.is_line)
		return;
	text_add(text, "%s ran Python in %s of the waits.",
		 r->holder.cpu_ns > 0 ? "; it" : " Another thread", UNITS_SHARE(r->holder.share));
}

static void add_memory(const struct load_facts *facts, struct text *text)
{
	if (facts->major_faults > 0)
		text_add(text, " %s pages were read back from disk",
			 UNITS_COUNT((int64_t)facts->major_faults));
	if (facts->swapped_bytes > 0)
		text_add(text, "%s %s of the run were swapped out",
			 facts->major_faults > 0 ? ";" : "", UNITS_BYTES(facts->swapped_bytes));
	text_add(text, ".");
	if (facts->private_end_bytes > facts->private_begin_bytes)
		text_add(text, " A worker's own memory grew from %s to %s.",
			 UNITS_BYTES(facts->private_begin_bytes),
			 UNITS_BYTES(facts->private_end_bytes));
}

void evidence_add_growth(const struct growth *growth, struct text *text)
{
	text_add(text, "from %s in the first quarter of %s to %s in the last",
		 UNITS_TIME(growth->first_ns), growth->in_epoch ? "an epoch" : "the run",
		 UNITS_TIME(growth->last_ns));
}

static void add_rhythm(const struct report *report, struct text *text)
{
	const struct period *period = &report->diagnosis.compute;
	const struct batch_series *s = &report->series;
	struct series_place at = SERIES_BEGIN;
	const struct finding *f = &report->finding;
	double ns[2] = {0}, count[2] = {0};
	char buffer[32], which[64];

	if (!period->regular || period->batches < 2 || period->drifting)
		return;
	while (series_next(s, &at)) {
		const bool is_long = at.batch % period->batches == period->phase;

		if (!series_has(s->compute_ns, at.i))
			continue;
		ns[is_long] += (double)s->compute_ns[at.i];
		count[is_long]++;
	}
	if (!(ns[1] / count[1] >= LONG_STEPS * ns[0] / count[0]))
		return;
	/* What follows an epoch's last step, up to the next epoch, counts as part of that step. */
	if (f->epoch_count > 1 && period->phase + 1 == period->batches &&
	    f->batch_count == f->epoch_count * (size_t)period->batches)
		snprintf(which, sizeof(which), "The last step of each epoch");
	else
		snprintf(which, sizeof(which), "Every %s step", ordinal(period->batches, buffer));
	text_add(text, " %s takes %s, the others %s.", which, UNITS_TIME(ns[1] / count[1]),
		 UNITS_TIME(ns[0] / count[0]));
}

static void add_inner(const struct loader_info *inner, struct text *text)
{
	if (inner)
		text_add(text, " Loader %" PRId64 "%s%s%s loads for it: --loader %" PRId64
			 " says why that is slow.", inner->loader_id, *inner->place ? " (" : "",
			 inner->place, *inner->place ? ")" : "", inner->loader_id);
}

/* Appends what the run shows of its first cause. */
static void add_first(const struct report *report, struct text *text)
{
	const struct diagnosis *d = &report->diagnosis;
	const struct grounds *r = &d->grounds;

	switch (d->cause) {
	case CAUSE_LOADER_CAPACITY:
	case CAUSE_CPU_CONTENTION:
		add_capacity(report, text);
		add_outside(report, text);
		break;
	case CAUSE_INTERMITTENT_LOADER:
		if (!isnan(d->wait_timer.period_ns))
			text_add(text, " It happens every %s, by the clock.",
				 UNITS_TIME(d->wait_timer.period_ns));
		add_outside(report, text);
		break;
	case CAUSE_SINGLE_PROCESS:
		add_outside(report, text);
		break;
	case CAUSE_SLOW_WORKER:
		add_slow_workers(report, text);
		text_add(text, " %.2g times as long as the others; %s of the waiting is for %s "
			 "batches.", d->slow.factor, UNITS_SHARE(d->slow.share),
			 d->slow.count > 1 ? "their" : "its");
		break;
	case CAUSE_HEAD_OF_LINE:
		text_add(text, " For %s of the waiting a later batch was already finished.",
			 UNITS_SHARE(d->queued_share));
		break;
	case CAUSE_COLD_CACHE:
		add_cold(&d->cold, text);
		break;
	case CAUSE_PERIODIC_SLOW_LOAD:
		if (d->slow.every > 0)
			text_add(text, " In every group of %" PRId32 " batches the same ones take "
				 "%.2g times as long as the others.", d->slow.every,
				 d->slow.factor);
		break;
	case CAUSE_EPOCH_START:
		add_cost(report, text);
		add_start(report, text);
		if (evidence_firsts_lead(report))
			add_outside(report, text);
		break;
	case CAUSE_DELIVERY:
		add_cost(report, text);
		add_gathered(report, text);
		break;
	case CAUSE_SAMPLER:
	case CAUSE_UNEXPLAINED:
	case CAUSE_ISOLATED_STALL:
		add_cost(report, text);
		break;
	case CAUSE_INNER_LOADER:
	case CAUSE_UNSEEN_LOADER:
		add_inner(report->inner, text);
		break;
	case CAUSE_STEP_LINE:
		text_add(text, " At least %s of all time is spent in that line.",
			 UNITS_SHARE(d->causes[0].share));
		break;
	case CAUSE_SAVING:
	case CAUSE_LOGGING:
	case CAUSE_MAIN_THREAD_PERIODIC:
		add_cost(report, text);
		add_rhythm(report, text);
		break;
	case CAUSE_IDLE_WORKERS:
		text_add(text, " %" PRId32 " of %" PRId32 " workers make all batches.", r->loading,
			 report->series.workers);
		break;
	case CAUSE_SKIPPED_BATCHES:
		text_add(text, " %zu of %zu batches are followed by no step.", d->skipped.count,
			 report->finding.batch_count);
		add_cost(report, text);
		break;
	case CAUSE_IDLE_PASSES:
		text_add(text, " %zu of %zu epochs (%zu of %zu batches) have no steps.",
			 d->passes.epoch_count, report->finding.epoch_count, d->passes.count,
			 report->finding.batch_count);
		add_cost(report, text);
		break;
	case CAUSE_UNEVEN_SHARDS:
		add_uneven(report, text);
		break;
	case CAUSE_WORKER_INTERPRETER:
		text_add(text, " Each batch asks its worker for %.3g descriptor%s and waits %s for "
			 "each, of which the training's CPU is %s.", r->fetch.count,
			 r->fetch.count == 1 ? "" : "s", UNITS_TIME(r->fetch.each_ns),
			 UNITS_SHARE(r->fetch.cpu_share));
		add_gathered(report, text);
		break;
	case CAUSE_INTERPRETER_HELD:
		add_holder(report, text);
		break;
	case CAUSE_STEPS_HELD:
		text_add(text, " %s in %s (± %.0f) of the steps' time.",
			 report_has_gpu(report) ? "They wait for it" : "That thread runs Python",
			 UNITS_SHARE(r->steps_held.share), 100 * r->steps_held.error);
		break;
	case CAUSE_BURSTS:
		text_add(text, " It takes %" PRId64 " batches at once; %" PRId64 " are kept ready.",
			 report->diagnosis.burst,
			 (int64_t)series_ahead(&report->series) * report->series.workers);
		add_cost(report, text);
		break;
	case CAUSE_AROUND_LOADER:
		text_add(text, " %s takes %s (± %.0f) of the steps: a stopwatch around it counts "
			 "that as waiting.",
			 report->samples.frames[report->lines.around.frame].function,
			 UNITS_SHARE(report->lines.around.share), 100 * report->lines.around.error);
		break;
	case CAUSE_SLOW_STAGE:
	case CAUSE_NARROW_POOL:
	case CAUSE_SERIAL_STAGE:
	case CAUSE_NO_PREFETCH:
	case CAUSE_FILLING_CACHE:
		stages_add_evidence(report, text);
		break;
	case CAUSE_LOCK:
		add_lock(r, text);
		break;
	case CAUSE_SHARED_LIMIT:
		if (!isnan(r->shared_per_s))
			text_add(text, " All of them together get %s batches/s.",
				 UNITS_RATE(r->shared_per_s));
		if (r->is_helper_busy)
			text_add(text, " One process that the training started needs %.2g cores.",
				 r->facts->helper_cores);
		if (r->takes_turns)
			text_add(text, " %s of the loads' time is waiting for it, another %s for "
				 "the worker whose turn it is.",
				 UNITS_SHARE(r->piped_share - r->lock_share),
				 UNITS_SHARE(r->lock_share));
		add_outside(report, text);
		break;
	case CAUSE_SLOW_SAMPLES:
		add_samples(report, text);
		break;
	case CAUSE_TOO_MANY_THREADS:
		text_add(text, " %.2g threads of each worker want a core: %.2g for %.3g cores.",
			 r->facts->runnable_threads, r->threads, report->series.cores);
		break;
	case CAUSE_TOO_MANY_WORKERS:
		text_add(text, " %" PRId32 " workers on %.3g cores: a load takes %s",
			 report->series.workers, report->series.cores,
			 UNITS_TIME(report->finding.load_mean_ns));
		if (r->cpu_share > 0)
			text_add(text, ", of which it runs for %s", UNITS_SHARE(r->cpu_share));
		text_add(text, ".");
		break;
	case CAUSE_NARROWED_CORES:
		text_add(text, " The workers may use %.3g of the %.3g cores.", r->cores_allowed,
			 r->cores_there);
		if (r->facts->cores_at_start > report->series.cores)
			text_add(text, " The training itself lost cores from its CPU mask after "
				       "it began to import libraries.");
		break;
	case CAUSE_MEMORY:
		add_memory(r->facts, text);
		break;
	case CAUSE_GROWING_LOADS:
	case CAUSE_GROWING_IN_EPOCH:
		text_add(text, " Loads grow ");
		evidence_add_growth(&r->growth, text);
		text_add(text, ".");
		break;
	default:
		break;
	}
}

static void add_calm(const struct report *report, struct text *text)
{
	const struct diagnosis *d = &report->diagnosis;
	size_t first = d->grounds.calm.first, last = d->grounds.calm.last;

	if ((!first && !last) || !report->finding.starved || d->cause == CAUSE_COLD_CACHE)
		return;
	text_add(text, " The training hardly waited for the %s %s of %s batches.",
		 first ? "first" : "last", UNITS_COUNT((int64_t)(first ? first : last)),
		 UNITS_COUNT((int64_t)report->finding.batch_count));
}

static const char *const NOUNS[CAUSE_MAX] = {
#define CAUSE(constant, name, group, noun, ...) [CAUSE_##constant] = noun,
#include "analysis/cause/causes.def"
#undef CAUSE
};

static int rank_of(double stall_ratio)
{
	return (stall_ratio >= STALL_MODERATE) + (stall_ratio >= STALL_HIGH);
}

bool evidence_add_step(const struct report *report, struct text *text)
{
	const struct account *a = &report->finding.account;
	const struct batch_series *s = &report->series;
	double longest_ns = 0, whole = a->wait_ns / a->time_ns, ratio;

	/* If a thread has several loaders, steps of one may contain waits for another. */
	if (a->count > report->finding.own.count || !s->compute_ns)
		return false;
	for (size_t i = 0; i < s->count; i++)
		longest_ns = fmax(longest_ns, (double)s->compute_ns[i]);
	ratio = a->wait_ns / (a->time_ns - longest_ns);
	if (!(longest_ns >= LONG_STEP * a->time_ns && longest_ns < a->time_ns) ||
	    (rank_of(ratio) == rank_of(whole) && (1 - whole) / (1 - ratio) < OTHERWISE))
		return false;
	text_add(text, "%sWithout one step of %s (compiling a model?) %s of the time would be "
		 "waiting: let it run longer.", *text->words ? " " : "", UNITS_TIME(longest_ns),
		 UNITS_SHARE(ratio));
	return true;
}

static void add_lack(const struct report *report, struct text *text)
{
	static const char *const did[GPU_LACK_MAX] = {
		[GPU_LACK_LAUNCHES] = "launches too slowly",
		[GPU_LACK_HOST] = "does other work than launching",
		[GPU_LACK_ORDERS] = "had waited for it",
	};
	const struct gpu_use *gpu = &report->gpu_use;

	if (gpu->lack == GPU_LACK_NOTHING || !report->finding.by_gpu)
		return;
	text_add(text, " The GPU works %s of the time; for %s it has data and nothing to do",
		 UNITS_SHARE(gpu->busy_share), UNITS_SHARE(gpu->lack_share));
	if (gpu->lack_part != STEP_PART_MAX)
		text_add(text, ", %s of that %s", UNITS_SHARE(gpu->lack_part_share),
			 step_place(report, gpu->lack_part));
	text_add(text, ": the host %s", did[gpu->lack]);
	if (gpu->lack == GPU_LACK_HOST)
		text_add(text, ", %s for each launch", UNITS_TIME(gpu->launch_ns));
	else if (gpu->lack == GPU_LACK_LAUNCHES && gpu->kernels > 0 && gpu->kernels < MOST_KERNELS)
		text_add(text, ", %s kernels a step of %s each", UNITS_COUNT((int64_t)gpu->kernels),
			 UNITS_TIME(gpu->kernel_mean_ns));
	text_add(text, ".");
}

void evidence_add(const struct report *report, struct text *text)
{
	const struct diagnosis *d = &report->diagnosis;
	char share[UNITS_MAX];
	size_t wait = 0;

	add_first(report, text);
	add_lack(report, text);
	add_calm(report, text);
	while (wait < d->cause_count && lines_is_pause(d->causes[wait].cause))
		wait++;
	/* If a pause in steps comes first, also name the first cause of waiting: the verdict's. */
	if (wait > 0 && wait < d->cause_count)
		text_add(text, " That is time of steps; most of the waiting is %s, %s of the time.",
			 NOUNS[d->causes[wait].cause], cost_share(report, &d->causes[wait], share));
	else if (d->second != CAUSE_UNKNOWN)
		text_add(text, " Also: %s, %s of the time.", NOUNS[d->second],
			 cost_share(report, &d->causes[1], share));
}

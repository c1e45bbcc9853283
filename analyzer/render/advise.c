/* SPDX-License-Identifier: Apache-2.0 */
#include "render/advise.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/explain.h"
#include "render/units.h"

#define INDENT   2
#define HANG     13
#define NS_PER_S 1e9

/* From here on predictions are printed without their range (analysis.md 5). */
#define FEWEST_STEADY 300
#define MOST_CV       0.5
#define OTHERS_LEAST  0.1	/* of the cores: less is what any machine has running */
#define EXTENT_MOST   0.99	/* of the loaders' time: from there on one stands for the run */

/* The numbers that the cause was decided by. */
void advise_add_evidence(const struct report *report, char *text, size_t size)
{
	const struct diagnosis *d = &report->diagnosis;
	const struct finding *f = &report->finding;
	char a[UNITS_MAX], b[UNITS_MAX];

	switch (d->cause) {
	case CAUSE_LOADER_CAPACITY:
	case CAUSE_CPU_CONTENTION:
		if (!isnan(f->rho))
			page_append(text, size,
				    " %" PRId32
				    " workers load %.3g batches/s, the training would take %.3g.",
				    report->series.workers,
				    report->series.workers / f->load_mean_ns * NS_PER_S,
				    NS_PER_S / f->demand_mean_ns);
		if (d->cause == CAUSE_CPU_CONTENTION)
			page_append(text, size, " They use %s of %s%.3g cores.",
				    units_share(a, d->cpu_share),
				    advise_others(report) ? "what others leave of " : "",
				    report->series.cores);
		else if (f->eta < 0.9)
			page_append(text, size,
				    " Delivering in order costs another %s, because loads differ.",
				    units_share(a, 1 - f->eta));
		break;
	case CAUSE_SLOW_WORKER:
		page_append(text, size,
			    " Worker %" PRId32
			    " takes %.2g times as long as the others (z = %.3g); %s of the "
			    "stall time is on its batches.",
			    d->slow.worker, d->slow.factor, fmin(d->slow.z, 1e6),
			    units_share(a, d->slow.share));
		break;
	case CAUSE_HEAD_OF_LINE:
		page_append(text, size, " %s of the stall time other batches were ready.",
			    units_share(a, d->queued_share));
		break;
	case CAUSE_COLD_CACHE:
		page_append(
			text, size,
			" Its loads take %s, later ones %s; %s of its time is waiting, later %s.",
			units_time(a, d->cold.first_load_ns), units_time(b, d->cold.later_load_ns),
			units_share((char[UNITS_MAX]){0}, d->cold.first_ratio),
			units_share((char[UNITS_MAX]){0}, d->cold.later_ratio));
		break;
	case CAUSE_EPOCH_START:
		page_append(text, size, " It takes %s of all time, %s in %zu epochs.",
			    units_share(a, f->account.share[ACCOUNT_EPOCH_START]),
			    units_time(b, f->wait_start_ns), f->epoch_count);
		break;
	case CAUSE_DELIVERY:
		page_append(text, size, " It takes %s of the time.",
			    units_share(a, f->account.share[ACCOUNT_RECEIVING]));
		break;
	case CAUSE_ISOLATED_STALL:
		page_append(text, size, " Without the largest, %s of the time is waiting.",
			    units_share(a, f->trimmed_ratio));
		break;
	case CAUSE_MAIN_THREAD_PERIODIC:
		page_append(text, size, " It takes %s of the time.",
			    units_share(a, d->compute_share));
		break;
	case CAUSE_PERIODIC_SLOW_LOAD:
	case CAUSE_INTERMITTENT_LOADER:
	case CAUSE_SINGLE_PROCESS:
	case CAUSE_UNSEEN_LOADER:
	case CAUSE_NONE:
	case CAUSE_UNKNOWN:
	case CAUSE_MAX:
		break;
	}
}

void advise_cause_text(const struct report *report, const struct page *page)
{
	const struct diagnosis *d = &report->diagnosis;
	const char *name = cause_name(d->cause);
	char text[1024] = "";

	if (!name || d->cause == CAUSE_NONE)
		return;
	page_append(text, sizeof(text), "%s", explain_find(name)->line);
	advise_add_evidence(report, text, sizeof(text));
	page_entry(page, INDENT, INDENT, "", "%s", text);
}

/* "every 5 batches (= workers)". */
static void add_period(const struct report *report, char *text, size_t size, int64_t batches)
{
	int32_t workers = report->series.workers;

	page_append(text, size, "every %" PRId64 " batches", batches);
	if (workers > 1 && batches == workers)
		page_append(text, size, ", as many as there are workers");
	else if (workers > 1 && batches % workers == 0)
		page_append(text, size, ", %" PRId64 " times the workers", batches / workers);
}

static void print_period(const struct report *report, const struct page *page, const char *label,
			 const char *what, const struct period *period)
{
	char text[512] = "", share[UNITS_MAX], time[UNITS_MAX];

	if (!period->batches)
		return;
	if (period->regular) {
		page_append(text, sizeof(text), "%s ", what);
		add_period(report, text, sizeof(text), period->batches);
		page_append(text, sizeof(text), ": %s, %s of their time",
			    units_time(time, period->cost_ns), units_share(share, period->share));
	} else {
		page_append(text, sizeof(text),
			    "%s vary with a period of %" PRId64 " batches, without a regular spike",
			    what, period->batches);
	}
	if (period->drifting)
		page_append(text, sizeof(text), ", sometimes one more or one less");
	else
		page_append(text, sizeof(text), " (p %s 1e-%d)",
			    period->log_p < -34.5 ? "<" : "about",
			    period->log_p < -34.5 ? 15 : (int)ceil(-period->log_p / log(10) - 0.5));
	page_item(page, label, "%s", text);
}

static void print_timer(const struct page *page, const char *label, const char *what,
			const struct period *period, const struct timer *timer)
{
	char time[UNITS_MAX];

	if (period->regular || isnan(timer->period_ns))
		return;
	page_item(page, label, "%s come by the clock, every %s (%zu gaps)", what,
		  units_time(time, timer->period_ns), timer->gap_count);
}

/* The long steps of a log that knows nothing but steps. */
static void print_long_steps(const struct report *report, const struct page *page)
{
	const struct diagnosis *d = &report->diagnosis;
	char time[UNITS_MAX];

	if (!d->steps_only || !d->compute.large_count)
		return;
	page_item(page, "Long steps",
		  "%zu of %zu steps take much longer than the others, %s more in all. Whether they "
		  "waited "
		  "for data cannot be told from step times alone: record the run with dlprof, or "
		  "log the "
		  "waits too.",
		  d->compute.large_count, report->finding.batch_count,
		  units_time(time, d->compute.large_ns));
}

void advise_pattern_text(const struct report *report, const struct page *page)
{
	const struct diagnosis *d = &report->diagnosis;
	const char *steps = d->steps_only ? "long steps" : "long steps of the training";
	bool any = d->wait.batches || d->compute.batches || d->load.batches ||
		   !isnan(d->wait_timer.period_ns) || !isnan(d->compute_timer.period_ns) ||
		   (d->steps_only && d->compute.large_count);

	if (!any || !report->series.count)
		return;
	print_period(report, page, "Pattern", "stalls", &d->wait);
	print_timer(page, "Pattern", "stalls", &d->wait, &d->wait_timer);
	print_period(report, page, "Pattern", steps, &d->compute);
	print_timer(page, "Pattern", steps, &d->compute, &d->compute_timer);
	print_period(report, page, "Pattern", "long loads", &d->load);
	print_long_steps(report, page);
	page_break(page);
}

/* Of two ways, only those that help. */
const char *advise_line(const struct report *report, enum advice_id id)
{
	const double *gain = report->diagnosis.whatif.gain;

	if (id == ADVICE_PREFETCH_OR_IN_ORDER_FALSE && gain[WHATIF_PREFETCH_X4] < ADVICE_GAIN)
		return "Pass in_order=False to the loader.";
	/* Where more workers would bring nothing, half of that advice is wrong. */
	if (id == ADVICE_MORE_LOADER_CAPACITY && gain[WHATIF_WORKERS_X2] < ADVICE_GAIN)
		return "Make each load cheaper; more workers would not help.";
	return explain_find(advice_name(id))->line;
}

static void print_steps(const struct report *report, const struct page *page)
{
	const struct advice_list *list = &report->diagnosis.advice;
	char number[40], text[512], gain[UNITS_MAX];
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct advice *advice = &list->steps[i];

		if (advice->id == ADVICE_NONE)
			continue;
		text[0] = '\0';
		page_append(text, sizeof(text), "%s", advise_line(report, advice->id));
		if (advice->gain >= 0 && advice->is_bound)
			page_append(text, sizeof(text), " At most %s more.",
				    units_share(gain, advice->gain));
		else if (advice->gain >= 0)
			page_append(text, sizeof(text), " Predicted: %s more.",
				    units_share(gain, advice->gain));
		snprintf(number, sizeof(number), "%s%zu.", i ? "          " : "Next      ", i + 1);
		page_entry(page, INDENT, HANG + 2, number, "%s", text);
	}
}

const char *advise_whatif_words(const struct whatif *whatif, int id)
{
	static const char *const words[WHATIF_MAX] = {
		[WHATIF_BASELINE] = "as it was",
		[WHATIF_WORKERS_X2] = "twice the workers",
		[WHATIF_LOAD_HALF] = "loads half as long",
		[WHATIF_PREFETCH_X4] = "prefetch_factor x 4",
		[WHATIF_IN_ORDER_FALSE] = "in_order=False",
		[WHATIF_FIX_SLOW_WORKER] = "no slow worker",
		[WHATIF_USE_WORKERS] = "with workers",
		[WHATIF_SYNTHETIC] = "an ideal loader",
	};

	return id < WHATIF_MAX ? words[id] : whatif_name(whatif, id);
}

/* Too short, or its loads too different, for predictions without a range. */
static bool is_short(const struct report *report)
{
	return report->finding.steady_count < FEWEST_STEADY || report->finding.load_cv > MOST_CV;
}

static void print_whatif(const struct report *report, const struct page *page)
{
	const struct whatif *whatif = &report->diagnosis.whatif;
	int id;

	if (isnan(whatif->batches_per_s[WHATIF_BASELINE]))
		return;
	page_line(page, "%*sPredicted by replaying this run%s", INDENT, "",
		  is_short(report) ? " (95 % range: it is short, or its loads differ)" : "");
	for (id = 0; id < WHATIF_MAX + (int)whatif->wish_count; id++) {
		char words[64], share[UNITS_MAX], range[40] = "";

		if (isnan(whatif->batches_per_s[id]))
			continue;
		snprintf(words, sizeof(words), "%s", advise_whatif_words(whatif, id));
		if (id == WHATIF_USE_WORKERS)
			snprintf(words, sizeof(words), "%" PRId32 " worker%s", whatif->use_workers,
				 whatif->use_workers == 1 ? "" : "s");
		if (is_short(report) && !isnan(whatif->low_per_s[id]))
			snprintf(range, sizeof(range), " (%.3g-%.3g)", whatif->low_per_s[id],
				 whatif->high_per_s[id]);
		page_line(page, "%*s%-20s %8.4g batches/s%-12s  %+4.0f %%  waiting %s", 2 * INDENT,
			  "", words, whatif->batches_per_s[id], range, 100 * whatif->gain[id],
			  units_share(share, whatif->stall_ratio[id]));
	}
	page_break(page);
}

bool advise_others(const struct report *report)
{
	const struct batch_series *series = &report->series;

	return series->other_cores >= OTHERS_LEAST * series->cores;
}

void advise_add_needed(const struct report *report, char *text, size_t size)
{
	const struct whatif *whatif = &report->diagnosis.whatif;

	if (whatif->needed_workers > 0)
		page_append(text, size,
			    "%" PRId32 " would be enough for 95 %% of what the training can take%s",
			    whatif->needed_workers,
			    whatif->needed_workers > whatif->cores && whatif->cores > 0
				    ? "; there are fewer cores, which matters if loads need CPU"
				    : "");
	else if (whatif->core_limited)
		page_append(text, size,
			    "no number is enough: loads and training need more CPU time than %.3g "
			    "cores give%s",
			    whatif->cores, advise_others(report) ? " beside other programs" : "");
}

void advise_add_extent(const struct report *report, char *text, size_t size)
{
	double own = 0, all = 0;
	char share[UNITS_MAX];
	size_t i;

	for (i = 0; i < report->loader_count; i++) {
		const struct loader_info *loader = &report->loaders[i];

		all += (double)loader->time_ns;
		if (loader == report->loader)
			own = (double)loader->time_ns;
	}
	if (!report->loader || !(own < EXTENT_MOST * all))
		page_append(text, size, "this run");
	else
		page_append(text, size,
			    "the loop over loader %" PRId64 " (%s of the time of all loaders)",
			    report->loader->loader_id, units_share(share, own / all));
}

static void print_needed(const struct report *report, const struct page *page)
{
	char text[256] = "";

	advise_add_needed(report, text, sizeof(text));
	if (*text)
		page_item(page, "Workers", "%s", text);
}

void advise_add_useless(const struct report *report, char *text, size_t size)
{
	const struct advice_list *list = &report->diagnosis.advice;
	size_t i, j;

	/* Those with one reason in one sentence. */
	for (i = 0; i < list->useless_count; i++) {
		bool said = false;

		for (j = 0; j < i; j++)
			said |= list->useless[j].why == list->useless[i].why;
		if (said)
			continue;
		page_append(text, size, "%s%s", *text ? "; " : "",
			    advise_whatif_words(NULL, list->useless[i].id));
		for (j = i + 1; j < list->useless_count; j++)
			if (list->useless[j].why == list->useless[i].why)
				page_append(text, size, ", %s",
					    advise_whatif_words(NULL, list->useless[j].id));
		page_append(text, size, ": %s", advice_useless_name(list->useless[i].why));
	}
}

static void print_useless(const struct report *report, const struct page *page)
{
	char text[512] = "";

	advise_add_useless(report, text, sizeof(text));
	if (*text)
		page_item(page, "No help", "%s", text);
}

void advise_next_text(const struct report *report, const struct page *page)
{
	if (report->diagnosis.cause == CAUSE_UNKNOWN)
		return;
	print_whatif(report, page);
	print_steps(report, page);
	print_useless(report, page);
	print_needed(report, page);
}

/* A period is named where it is a regular one; what only varies with it is told apart. */
static void add_period_json(struct jsonw *json, const char *key, const struct period *period,
			    bool counts)
{
	bool is_named = period->regular && counts;

	jsonw_open(json, key, '{');
	jsonw_int(json, "batches", is_named ? period->batches : SERIES_UNKNOWN);
	jsonw_number(json, "p", period->tested && !period->drifting ? exp(period->log_p) : NAN);
	jsonw_number(json, "share", period->batches ? period->share : NAN);
	jsonw_int(json, "phase",
		  period->batches && !period->drifting ? period->phase : SERIES_UNKNOWN);
	jsonw_bool(json, "drifting", period->drifting);
	jsonw_bool(json, "modulated", period->batches && !period->regular);
	jsonw_int(json, "modulated_batches",
		  period->batches && !period->regular ? period->batches : SERIES_UNKNOWN);
	jsonw_number(json, "cost_s", is_named ? period->cost_ns / NS_PER_S : NAN);
	jsonw_int(json, "events", (int64_t)period->event_count);
}

void advise_patterns_json(const struct report *report, struct jsonw *json)
{
	const struct diagnosis *d = &report->diagnosis;
	/* Of a log of steps, it is the steps that have a period. */
	const struct period *period = d->steps_only ? &d->compute : &d->wait;
	const struct timer *timer = d->steps_only ? &d->compute_timer : &d->wait_timer;

	add_period_json(json, "period", period, true);
	jsonw_string(json, "of", d->steps_only ? "steps" : "stalls");
	jsonw_number(json, "timer_s", timer->period_ns / NS_PER_S);
	jsonw_close(json, '}');
	add_period_json(json, "compute_period", &d->compute,
			!d->steps_only && d->compute_share >= CAUSE_COST_LEAST);
	jsonw_number(json, "timer_s", d->compute_timer.period_ns / NS_PER_S);
	jsonw_close(json, '}');
	add_period_json(json, "load_period", &d->load, true);
	jsonw_close(json, '}');
	jsonw_int(json, "slow_worker", d->slow.worker >= 0 ? d->slow.worker : SERIES_UNKNOWN);
}

static void add_whatif_json(const struct whatif *whatif, struct jsonw *json)
{
	int id;

	jsonw_open(json, "whatif", '[');
	for (id = 0; id < WHATIF_MAX + (int)whatif->wish_count; id++) {
		if (isnan(whatif->batches_per_s[id]))
			continue;
		jsonw_open(json, NULL, '{');
		jsonw_string(json, "id", whatif_name(whatif, id));
		jsonw_number(json, "batches_per_s", whatif->batches_per_s[id]);
		jsonw_range(json, "ci95", whatif->low_per_s[id], whatif->high_per_s[id]);
		jsonw_number(json, "gain", whatif->gain[id]);
		jsonw_number(json, "stall_ratio", whatif->stall_ratio[id]);
		if (id == WHATIF_USE_WORKERS)
			jsonw_int(json, "workers", whatif->use_workers);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

void advise_json(const struct report *report, struct jsonw *json)
{
	const struct advice_list *list = &report->diagnosis.advice;
	size_t i;

	add_whatif_json(&report->diagnosis.whatif, json);
	jsonw_open(json, "advice", '[');
	for (i = 0; i < list->count; i++) {
		const char *name = advice_name(list->steps[i].id);

		jsonw_open(json, NULL, '{');
		jsonw_string(json, "id", name);
		jsonw_string(json, "text", advise_line(report, list->steps[i].id));
		jsonw_number(json, "gain", list->steps[i].gain);
		jsonw_bool(json, "at_most", list->steps[i].is_bound);
		jsonw_string(json, "confidence", stall_confidence_id(report->finding.confidence));
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
	jsonw_open(json, "not_useful", '[');
	for (i = 0; i < list->useless_count; i++) {
		jsonw_open(json, NULL, '{');
		jsonw_string(json, "id", whatif_name(NULL, list->useless[i].id));
		jsonw_string(json, "why", advice_useless_name(list->useless[i].why));
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

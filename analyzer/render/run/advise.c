/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/form/units.h"

#define AS_WORKERS ", as many as workers"

static void add_period(const struct report *report, struct text *text, int64_t batches)
{
	int32_t workers = report->series.workers;

	text_add(text, "every %" PRId64 " batches", batches);
	if (workers > 1 && batches == workers)
		text_add(text, AS_WORKERS);
	else if (workers > 1 && batches % workers == 0)
		text_add(text, ", %" PRId64 " times the workers", batches / workers);
}

void advise_rhythm(const struct report *report, struct outline *o)
{
	const struct diagnosis *d = &report->diagnosis;
	const struct period *period = d->steps_only ? &d->compute : &d->wait;
	const struct timer *timer = d->steps_only ? &d->compute_timer : &d->wait_timer;
	struct text text = TEXT_OF(128);

	if (!report->series.count)
		return;
	if (period->batches && period->regular)
		text_add(&text, "every %" PRId64 " batches%s", (int64_t)period->batches,
			 report->series.workers > 1 && period->batches == report->series.workers
				 ? AS_WORKERS
				 : "");
	else if (!isnan(timer->period_ns))
		text_add(&text, "every %s", UNITS_TIME(timer->period_ns));
	outline_item(o, "Waits", "%s", text.words);
}

static void say_none(struct outline *o, const char *what, const struct period *period)
{
	if (!period->batches && period->tested)
		outline_item(o, "Pattern", "%s have no period that holds over the whole run", what);
	else if (!period->batches)
		outline_item(o, "Pattern", "too few %s to look for a period", what);
}

static void say_period(const struct report *report, struct outline *o, const char *what,
		       const struct period *period)
{
	struct text text = TEXT_OF(512);

	if (!period->batches)
		return;
	if (period->regular) {
		text_add(&text, "%s ", what);
		add_period(report, &text, period->batches);
		text_add(&text, ": %s, %s of their time", UNITS_TIME(period->cost_ns),
			 UNITS_SHARE(period->share));
	} else {
		text_add(&text, "%s vary with a period of %" PRId64 " batches, without a regular "
			 "spike", what, period->batches);
	}
	if (period->drifting)
		text_add(&text, ", sometimes one more or one less");
	else
		text_add(&text, " (p %s 1e-%d)", period->log_p < -34.5 ? "<" : "about",
			 period->log_p < -34.5 ? 15 : (int)ceil(-period->log_p / log(10) - 0.5));
	outline_item(o, "Pattern", "%s", text.words);
}

static void say_timer(struct outline *o, const char *what, const struct period *period,
		      const struct timer *timer)
{
	if (period->regular || isnan(timer->period_ns))
		return;
	outline_item(o, "Pattern", "%s come by the clock, every %s (%zu gaps)", what,
		     UNITS_TIME(timer->period_ns), timer->gap_count);
}

void advise_patterns(const struct report *report, struct outline *o)
{
	const struct diagnosis *d = &report->diagnosis;
	const char *steps = d->steps_only ? "long steps" : "long steps of the training";

	outline_items(o, "pattern");
	if (!report->series.count)
		return;
	outline_strip(o, &report->series, stall_waits(&report->series, &report->finding));
	if (d->steps_only)
		say_none(o, steps, &d->compute);
	else
		say_none(o, "stalls", &d->wait);
	say_period(report, o, "stalls", &d->wait);
	say_timer(o, "stalls", &d->wait, &d->wait_timer);
	say_period(report, o, steps, &d->compute);
	say_timer(o, steps, &d->compute, &d->compute_timer);
	say_period(report, o, "long loads", &d->load);
	/* An imported log that has only step times shows just that some steps are long. */
	if (d->steps_only && d->compute.large_count)
		outline_item(o, "Long steps",
			     "%zu of %zu steps take much longer than the others, %s more in all. "
			     "Whether they waited for data cannot be told from step times alone: "
			     "record the run with dlprof, or log the waits too.",
			     d->compute.large_count, report->finding.batch_count,
			     UNITS_TIME(d->compute.large_ns));
}

static const char *whatif_words(const struct report *report, int id)
{
	static const char *const words[WHATIF_MAX] = {
		[WHATIF_BASELINE] = "as it was",
		[WHATIF_WORKERS_X2] = "twice the workers",
		[WHATIF_MORE_WORKERS] = "more workers",
		[WHATIF_LOAD_HALF] = "loads half as long",
		[WHATIF_IN_ORDER_FALSE] = "in_order=False",
		[WHATIF_FIX_SLOW_WORKER] = "no slow worker",
		[WHATIF_EVEN_SHARDS] = "even shards",
		[WHATIF_USE_WORKERS] = "with workers",
		[WHATIF_PERSISTENT] = "persistent workers",
		[WHATIF_DELIVERY] = "no hand-over",
		[WHATIF_SHARING] = "sharing by files",
		[WHATIF_SAMPLING] = "samples chosen",
		[WHATIF_FEWER_WORKERS] = "fewer workers",
		[WHATIF_NO_WORKERS] = "no workers",
		[WHATIF_SYNTHETIC] = "an ideal loader",
	};

	if (id == WHATIF_PREFETCH_X4)
		return report->diagnosis.burst ? "a longer queue"
					       : dialect_of(report->loader)->prefetch_x4;
	return id < WHATIF_MAX ? words[id] : whatif_name(&report->diagnosis.whatif, id);
}

/* Appends a gain's predicted range, cut at the gain of ideal input. False: nothing is appended. */
static bool add_range(const struct finding *finding, double low, double high, const char *assumed,
		      struct text *text)
{
	char words[2][UNITS_MAX];

	if (isnan(low))
		return false;
	units_factor(words[0], 1 + low);
	units_factor(words[1], fmin(1 + high, finding->gain_alone));
	if (strcmp(words[0], words[1]) == 0)
		return false;
	text_add(text, " (%s to %s%s)", words[0], words[1], assumed);
	return true;
}

/* Appends the gain of an advice, and its range if known. Returns true if there is a range. */
static bool add_gain(const struct report *report, const struct advice *advice, const char *assumed,
		     struct text *text)
{
	const bool is_whole = advice->gain == report->finding.gain_alone - 1;

	if (!(advice->gain >= 0))
		return false;
	text_add(text, ": %s %s%s", advice->is_ideal ? "up to" : "about",
		 UNITS_FACTOR(1 + advice->gain),
		 advice->is_ideal && is_whole ? " (ideal input)" : "");
	return !advice->is_ideal &&
	       add_range(&report->finding, advice->low, advice->high, assumed, text);
}

static void add_steps(const struct report *report, struct outline *o)
{
	const struct advice_list *list = &report->diagnosis.advice;
	const struct whatif *whatif = &report->diagnosis.whatif;
	const char *assumed = whatif->shares_cores ? ", if other programs stay as busy" : "";
	struct text text = TEXT_OF(512);
	char label[16];
	struct remedy remedy;
	size_t i, number = 0;

	for (i = 0; i < list->count; i++) {
		const struct advice *advice = &list->steps[i];
		const bool frees = advice->id == ADVICE_OWN_CORES;

		if (advice->id == ADVICE_NONE)
			continue;
		remedy_say(report, advice, &remedy);
		*text.words = '\0';
		text_add(&text, "%.*s", page_clause(remedy.line), remedy.line);
		if (add_gain(report, advice, frees ? "" : assumed, &text) && !frees)
			assumed = ""; /* The assumption is said only once. */
		snprintf(label, sizeof(label), "%zu.", ++number);
		outline_item(o, label, "%s", text.words);
		outline_cell(o, "%s", remedy.how);
	}
}

static const char *try_words(const struct report *report, int id)
{
	return id == WHATIF_PREFETCH_X4  ? dialect_of(report->loader)->prefetch
	       : id == WHATIF_WORKERS_X2 ? "more workers"
					 : whatif_words(report, id);
}

static void add_useless(const struct report *report, struct outline *o)
{
	const struct advice_list *list = &report->diagnosis.advice;
	const struct whatif *whatif = &report->diagnosis.whatif;

	if (whatif->gap != WHATIF_GAP_NONE && report->series.workers >= 0)
		outline_item(o, "No", "prediction: %s", whatif_gap_words[whatif->gap]);
	for (size_t i = 0; i < list->useless_count; i++) {
		int id = list->useless[i].id;

		if (i == 0)
			outline_first(o, PAGE_PLAIN, "No");
		outline_cell(o, "%s %s", try_words(report, id), UNITS_FACTOR(1 + whatif->gain[id]));
	}
}

static void add_wishes(const struct report *report, struct outline *o)
{
	const struct whatif *whatif = &report->diagnosis.whatif;

	for (int id = WHATIF_MAX; id < WHATIF_MAX + (int)whatif->wish_count; id++) {
		const struct whatif_gain gain = whatif_gain_of(whatif, id);
		struct text text = TEXT_OF(256);

		if (isnan(gain.gain)) {
			text_add(&text, "cannot be predicted: %s", whatif_gap_words[whatif->gap]);
		} else {
			text_add(&text, "%s as fast", UNITS_FACTOR(1 + gain.gain));
			add_range(&report->finding, gain.low, gain.high, "", &text);
		}
		outline_item(o, id > WHATIF_MAX ? "" : "If", "%s: %s", whatif_name(whatif, id),
			     text.words);
	}
}

void advise_next(const struct report *report, struct outline *o)
{
	outline_items(o, SCREEN_NEXT);
	if (report->diagnosis.cause == CAUSE_UNKNOWN)
		return;
	add_steps(report, o);
	outline_items(o, SCREEN_NO);
	if (report->finding.starved)
		add_useless(report, o);
	outline_items(o, SCREEN_IF);
	add_wishes(report, o);
}

bool advise_is_of_number(int id)
{
	return id == WHATIF_USE_WORKERS || id == WHATIF_MORE_WORKERS || id == WHATIF_FEWER_WORKERS;
}

static void add_prediction(const struct report *report, int id, struct outline *o)
{
	const struct whatif *whatif = &report->diagnosis.whatif;
	double most = 0;

	for (int i = 0; i < WHATIF_MAX + (int)whatif->wish_count; i++)
		if (whatif->batches_per_s[i] > most)
			most = whatif->batches_per_s[i];
	outline_row(o, PAGE_PLAIN);
	outline_share(o, whatif->batches_per_s[id] / most, 0);
	if (advise_is_of_number(id))
		outline_cell(o, "%" PRId32 " worker%s", whatif->setups[id].workers,
			     whatif->setups[id].workers == 1 ? "" : "s");
	else
		outline_cell(o, "%s", whatif_words(report, id));
	outline_cell(o, "%.4g", whatif->batches_per_s[id]);
	if (isnan(whatif->low_per_s[id]))
		outline_cell(o, "-");
	else
		outline_cell(o, "%.3g to %.3g", whatif->low_per_s[id],
			     fmin(whatif->high_per_s[id], whatif->high_per_s[WHATIF_SYNTHETIC]));
	if (id == WHATIF_BASELINE)
		outline_cell(o, "-");
	else
		/* 0.0 turns -0 into 0, so that "+0 %" is written, not "-0 %". */
		outline_cell(o, "%+.0f %%", rint(100 * whatif->gain[id]) + 0.0);
	outline_cell(o, "%s", UNITS_SHARE(whatif->stall_ratio[id]));
}

/* Writes why settings would not help. Settings with the same reason share a sentence. */
static void add_reasons(const struct report *report, struct outline *o)
{
	const struct advice_list *list = &report->diagnosis.advice;
	struct text text = TEXT_OF(512);

	for (size_t i = 0; i < list->useless_count; i++) {
		bool said = false;

		for (size_t j = 0; j < i; j++)
			said |= list->useless[j].why == list->useless[i].why;
		if (said)
			continue;
		*text.words = '\0';
		for (size_t j = i; j < list->useless_count; j++)
			if (list->useless[j].why == list->useless[i].why)
				text_add(&text, "%s%s", j > i ? ", " : "",
					 whatif_words(report, list->useless[j].id));
		outline_item(o, "No help", "%s: %s", text.words,
			     useless_words[list->useless[i].why]);
	}
}

static void add_needed(const struct report *report, struct outline *o)
{
	const struct advice_list *advice = &report->diagnosis.advice;
	const struct whatif *whatif = &report->diagnosis.whatif;

	if (report->series.workers == 0 && !report->finding.starved)
		return;
	if (whatif->needed_workers > 0)
		outline_item(o, "Workers",
			     "%" PRId32 " would be enough for 95 %% of what the training can "
			     "take%s%s",
			     whatif->needed_workers,
			     isnan(whatif->gain[WHATIF_FIX_SLOW_WORKER])
				     ? ""
				     : ", if the slow ones are not among them",
			     whatif->needed_workers > whatif->cores && whatif->cores > 0
				     ? "; there are fewer cores, which matters if loads need CPU"
				     : "");
	else if (whatif->core_limited && !advice_has(advice, WHATIF_WORKERS_X2) &&
		 !advice_has(advice, WHATIF_MORE_WORKERS) &&
		 !advice_has(advice, WHATIF_USE_WORKERS))
		outline_item(o, "Workers",
			     "no number is enough: loads and training need more CPU time than %.3g "
			     "%s%s",
			     whatif->cores, whatif->cores == 1 ? "core gives" : "cores give",
			     series_has_others(&report->series) ? " beside other programs" : "");
}

void advise_predictions(const struct report *report, struct outline *o)
{
	const struct whatif *whatif = &report->diagnosis.whatif;

	if (report->diagnosis.cause == CAUSE_UNKNOWN && !report->finding.is_doubtful)
		return;
	outline_table(o, "predict", "With", "#Batches/s", "#95 % range", "#More", "#Waiting");
	outline_title(o, "Predicted by replaying this run's loads and steps with other settings");
	if (!isnan(whatif->batches_per_s[WHATIF_BASELINE]))
		for (int id = 0; id < WHATIF_MAX + (int)whatif->wish_count; id++)
			if (!isnan(whatif->batches_per_s[id]))
				add_prediction(report, id, o);
	outline_items(o, "predict");
	if (whatif->gap != WHATIF_GAP_NONE && report->series.count)
		outline_item(o, "Predicted", "nothing: %s", whatif_gap_words[whatif->gap]);
	else if (whatif->shares_cores)
		outline_item(o, "Neighbours",
			     "assumed: other programs want %.2g of the %.3g cores all the time",
			     whatif->others_cores, whatif->cores);
	add_reasons(report, o);
	add_needed(report, o);
}

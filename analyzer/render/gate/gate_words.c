/* SPDX-License-Identifier: Apache-2.0 */
/* gate_words.c - the gate's results in words, which all forms of output use. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/form/units.h"
#include "render/gate/gate.h"
#include "render/run/explain.h"

/* Writes a share with a decimal: without it, a value could be rounded to its limit. */
static const char *percent(char *buffer, double share)
{
	snprintf(buffer, UNITS_MAX, "%.1f %%", share * 100);
	return buffer;
}
#define PERCENT(share) percent(UNITS_BUFFER, share)

static const char *points(char *buffer, double share)
{
	snprintf(buffer, UNITS_MAX, "%+.1f pp", share * 100);
	return buffer;
}
#define POINTS(share) points(UNITS_BUFFER, share)

/* Appends to one of the texts of GATE_WORDS bytes that these functions fill. */
#define gate_add(text, ...) page_append(text, GATE_WORDS, __VA_ARGS__)

static const char *value_words(char *buffer, enum gate_unit unit, double value)
{
	switch (unit) {
	case GATE_SHARE:
		return percent(buffer, value);
	case GATE_POINTS:
		return points(buffer, value);
	case GATE_TIME:
		return units_time(buffer, value);
	case GATE_COUNT:
		return units_count(buffer, (int64_t)value);
	}
	return "";
}

const char *gate_time_words(const struct gate_run *run, char *text)
{
	return units_date(text, run->info.start_unix_ns, "%Y-%m-%d %H:%M UTC");
}

/* Returns true if the value is above its limit but passed, since chance may explain the excess. */
static bool is_above_by_chance(const struct gate_item *item)
{
	return item->result.outcome == GATE_PASSED && item->result.found > item->limit.value;
}

const char *gate_found_words(const struct gate_item *item, char *text)
{
	const struct gate_result *result = &item->result;

	if (isnan(result->found))
		snprintf(text, GATE_WORDS, "not known");
	else if (item->limit.metric == GATE_STALL_INCREASE)
		snprintf(text, GATE_WORDS,
			 "%s, against a mean of %s in %zu baselines (SD %s); over %s it fails",
			 POINTS(result->found), PERCENT(result->before), result->baseline_count,
			 POINTS(result->spread) + 1, POINTS(result->edge));
	else if (item->limit.metric == GATE_STALL_RATIO && !isnan(result->edge))
		snprintf(text, GATE_WORDS, "%s,%s with 99 %% confidence%s at least %s",
			 PERCENT(result->found), is_above_by_chance(item) ? " but" : "",
			 is_above_by_chance(item) ? " only" : "", PERCENT(result->edge));
	else
		value_words(text, gate_metrics[item->limit.metric].unit, result->found);
	return text;
}

const char *gate_odd_words(const struct gate_result *result, char *text)
{
	snprintf(text, GATE_WORDS,
		 "its %s is far above the others; without this baseline more than %s fails, and "
		 "this run would. Remove it if it does not belong there.",
		 PERCENT(result->odd), POINTS(result->odd_edge));
	return text;
}

const char *gate_unfit_words(const struct gate_run *run, char *text)
{
	const struct gate_sample *sample = &run->sample;

	*text = '\0';
	switch (sample->unfit) {
	case GATE_LIVE:
		gate_add(text, "it is still recording");
		break;
	case GATE_NO_VERDICT:
		gate_add(text, "there is no verdict on it (%s)",
			 sample->gap == STALL_GAP_NONE ? "?" : stall_gap_ids[sample->gap]);
		if (!run->has_loader && run->load_count)
			gate_add(text, ": if this rank loads no data, say --ranks %zu",
				 run->load_count);
		break;
	case GATE_LOSS:
		gate_add(text, "%s of its records were lost",
			 PERCENT(sample->value[GATE_LOST_SHARE]));
		break;
	case GATE_DOUBT:
		gate_add(text, "its waits may not be the training's; see its report");
		break;
	case GATE_FEW:
		gate_add(text, "%s has %.0f batches and %zu are needed: let it run longer",
			 run->is_one_of_several ? "the loader for which it waits most" : "it",
			 sample->value[GATE_BATCHES], sample->needed_count);
		break;
	case GATE_RANKS:
		gate_add(text, "only %zu of the %" PRId64 " ranks of its job have a database here; "
			 "if the others load no data, add --ranks %zu", run->rank_count,
			 run->info.world_size, run->rank_count);
		break;
	case GATE_FIT:
	case GATE_UNFIT_MAX:
		break;
	}
	return text;
}

static const struct gate_run *first_refused(const struct gate_report *report)
{
	for (size_t i = 0; i < report->baseline_count; i++)
		if (*report->baselines[i].refused)
			return &report->baselines[i];
	return NULL;
}

const char *gate_reason_words(const struct gate_report *report, const struct gate_item *item,
			      char *text)
{
	const struct gate_run *run =
		item->result.run < report->run_count ? &report->runs[item->result.run] : NULL;
	const struct gate_run *refused = first_refused(report);
	char unfit[GATE_WORDS];

	*text = '\0';
	switch (item->result.why) {
	case GATE_WHY_UNFIT:
		gate_add(text, "%s: %s", run ? run->name : "no run",
			 run ? gate_unfit_words(run, unfit) : "");
		break;
	case GATE_WHY_NOT_OBSERVED:
		gate_add(text, "%s: %s was not observed", run ? run->name : "no run",
			 gate_metrics[item->limit.metric].name);
		break;
	case GATE_WHY_BASELINES:
		gate_add(text, "%zu baseline%s can be compared and %d are needed%s%s%s%s",
			 item->result.baseline_count, item->result.baseline_count == 1 ? "" : "s",
			 GATE_FEWEST_BASELINES, refused ? "; not " : "",
			 refused ? refused->name : "", refused ? ": " : "",
			 refused ? refused->refused : "");
		break;
	case GATE_WHY_UNLIKE:
		gate_add(text, "the runs to judge are not of the same kind");
		break;
	case GATE_WHY_ANOTHER_RUN:
		gate_add(text, "all %zu runs so far are above every baseline; %d decide",
			 report->run_count, GATE_SEPARATE_RUNS);
		break;
	case GATE_WHY_NONE:
	case GATE_WHY_MAX:
		break;
	}
	return text;
}

static int weight(const struct gate_item *item)
{
	bool is_open = item->result.outcome == GATE_INCONCLUSIVE;

	if (item->result.outcome == GATE_PASSED)
		return 0;
	if (is_open && item->on_inconclusive == GATE_ACTION_PASS)
		return 1;
	return (item->is_error ? 4 : 2) + !is_open;
}

const struct gate_item *gate_first_item(const struct gate_report *report)
{
	const struct gate_item *first = NULL;

	for (size_t i = 0; i < report->item_count; i++)
		if (!first || weight(&report->items[i]) > weight(first))
			first = &report->items[i];
	return first;
}

static const char *cause_words(enum cause cause)
{
	return cause == CAUSE_UNKNOWN ? "not known" : cause_names[cause];
}

static void add_since(const struct gate_report *report, char *text)
{
	char when[GATE_WORDS];

	for (size_t i = report->baseline_count; i-- > 0;) {
		const struct gate_run *run = &report->baselines[i];

		if (!run->used)
			continue;
		gate_time_words(run, when);
		gate_add(text, " since %s%s%s%s", when, *when ? " (" : "", run->name,
			 *when ? ")" : "");
		return;
	}
}

static void add_part(const struct gate_change *change, char *text)
{
	static const char *const words[GATE_PART_MAX] = {
		[GATE_PART_OPEN] = "opening files",     [GATE_PART_READ] = "reading",
		[GATE_PART_DECODE] = "decoding",        [GATE_PART_COLLATE] = "collating",
		[GATE_PART_OWN] = "the dataset's code", [GATE_PART_BLOCKED] = "not running",
	};

	if (change->part == GATE_PART_MAX)
		return;
	gate_add(text, " (mostly %s: %s instead of %s)", words[change->part],
		 UNITS_TIME(change->now.part_ns[change->part]),
		 UNITS_TIME(change->before.part_ns[change->part]));
}

static void add_change(const struct gate_change *change, char *text)
{
	const struct gate_sample *a = &change->before, *b = &change->now;

	switch (change->suspect) {
	case GATE_SUSPECT_LOAD:
		gate_add(text, ": a load takes %s instead of %s", UNITS_TIME(b->load_ns),
			 UNITS_TIME(a->load_ns));
		add_part(change, text);
		break;
	case GATE_SUSPECT_COMPUTE:
		gate_add(text, ": loads take as long as before, but a step takes %s instead of %s "
			 "and hides less of them", UNITS_TIME(b->compute_ns),
			 UNITS_TIME(a->compute_ns));
		break;
	case GATE_SUSPECT_OTHER:
		gate_add(text, ": the mean wait is %s instead of %s, although loads and steps take "
			 "as long as before", UNITS_TIME(b->wait_ns), UNITS_TIME(a->wait_ns));
		break;
	}
	if (a->cause == b->cause)
		gate_add(text, "; the cause is %s as before", cause_words(b->cause));
	else
		gate_add(text, "; the cause is %s, before it was %s", cause_words(b->cause),
			 cause_words(a->cause));
}

static void add_cause(const struct gate_run *run, char *text)
{
	const char *name = cause_names[run->sample.cause];
	const struct explanation *page = name ? explain_find(name) : NULL;

	if (page)
		gate_add(text, "; cause: %s (%.*s)", name, (int)strcspn(page->line, "."),
			 page->line);
	if (!isnan(run->sample.load_ns))
		gate_add(text, "; a load takes %s", UNITS_TIME(run->sample.load_ns));
}

static void add_failure(const struct gate_report *report, const struct gate_item *item, char *text)
{
	const struct gate_result *result = &item->result;
	const struct gate_run *run = &report->runs[result->run];
	char found[GATE_WORDS];

	if (item->limit.metric == GATE_STALL_INCREASE)
		gate_add(text, "The stall ratio rose by %s from %s to %s",
			 POINTS(result->found) + 1, PERCENT(result->before),
			 PERCENT(result->before + result->found));
	else
		gate_add(text, "%s does not hold%s%s: %s", item->text,
			 report->run_count > 1 ? " in " : "",
			 report->run_count > 1 ? run->name : "", gate_found_words(item, found));
	if (report->has_change && item->limit.metric == GATE_STALL_INCREASE) {
		add_since(report, text);
		add_change(&report->change, text);
	} else if (item->limit.metric == GATE_COLLECTIVES_ALONE) {
		/* The cause of the loader's waits does not explain time spent in collectives. */
		gate_add(text, "; its GPU exchanged data with other ranks, or waited for them");
	} else {
		add_cause(run, text);
		if (report->has_change) {
			gate_add(text, ";");
			add_since(report, text);
			add_change(&report->change, text);
		}
	}
	gate_add(text, ".");
}

const char *gate_why_words(const struct gate_report *report, char *text)
{
	const struct gate_item *item = gate_first_item(report);
	char reason[GATE_WORDS];

	*text = '\0';
	if (!item)
		return text;
	if (item->result.outcome == GATE_FAILED)
		add_failure(report, item, text);
	else if (item->result.outcome == GATE_INCONCLUSIVE)
		gate_add(text, "Cannot say whether %s: %s.", item->text,
			 gate_reason_words(report, item, reason));
	else
		gate_add(text, "All assertions hold.");
	return text;
}

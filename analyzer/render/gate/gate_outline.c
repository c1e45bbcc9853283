/* SPDX-License-Identifier: Apache-2.0 */
/* gate_outline.c - shows the gate to people: outcome, reason, assertions and runs. */
#include <math.h>

#include "render/form/units.h"
#include "render/gate/gate.h"

static const enum page_color COLORS[] = {
	[GATE_PASSED] = PAGE_GREEN,
	[GATE_INCONCLUSIVE] = PAGE_YELLOW,
	[GATE_FAILED] = PAGE_RED,
};

static const char *item_words(const struct gate_item *item)
{
	switch (item->result.outcome) {
	case GATE_PASSED:
		return "holds";
	case GATE_FAILED:
		return item->is_error ? "FAILS" : "WARNING";
	case GATE_INCONCLUSIVE:
		break;
	}
	return item->on_inconclusive == GATE_ACTION_FAIL   ? "CANNOT SAY"
	       : item->on_inconclusive == GATE_ACTION_WARN ? "cannot say, warning only"
							   : "cannot say, let pass";
}

static void add_verdict(const struct gate_report *report, struct outline *o)
{
	char why[GATE_WORDS];

	gate_why_words(report, why);
	outline_items(o, OUTLINE_VERDICT);
	outline_first(o, COLORS[report->outcome], "dlprof gate: %s",
		      report->outcome == GATE_PASSED   ? "PASSED"
		      : report->outcome == GATE_FAILED ? "FAILED"
						       : "CANNOT SAY");
	outline_cell(o, "%.*s", page_clause(why), why);
}

static void add_items(const struct gate_report *report, struct outline *o)
{
	char found[GATE_WORDS], reason[GATE_WORDS];

	outline_table(o, "assertions", "Level", "Assertion", "", "Found");
	for (const struct gate_item *item = report->items;
	     item < report->items + report->item_count; item++) {
		gate_found_words(item, found);
		gate_reason_words(report, item, reason);
		outline_row(o, COLORS[item->result.outcome]);
		outline_more(o, item->is_error ? "error" : "warn", item->text, item_words(item));
		outline_cell(o, "%s%s%s", found, *reason ? "; " : "", reason);
	}
}

static void add_runs(const struct gate_report *report, struct outline *o)
{
	outline_table(o, "runs", "#Stall ratio", "#Batches", "Cause", "Run");
	for (size_t i = 0; i < report->run_count; i++) {
		const struct gate_sample *sample = &report->runs[i].sample;
		const char *cause = cause_names[sample->cause];
		char unfit[GATE_WORDS] = "";

		/* A run whose short_low99 is known is short, but can be judged nevertheless. */
		if (isnan(sample->short_low99))
			gate_unfit_words(&report->runs[i], unfit);
		outline_first(o, PAGE_PLAIN, "%s", UNITS_SHARE(sample->value[GATE_STALL_RATIO]));
		outline_cell(o, "%.0f", sample->value[GATE_BATCHES]);
		outline_cell(o, "%s", cause ? cause : "not known");
		outline_cell(o, "%s%s%s", report->runs[i].name, *unfit ? ": " : "", unfit);
	}
}

/* Names a baseline so far above the others that it hides a rise. */
static void add_odd(const struct gate_report *report, struct outline *o)
{
	char text[GATE_WORDS];

	for (size_t i = 0; i < report->item_count; i++) {
		const struct gate_result *result = &report->items[i].result;

		for (size_t k = 0; k < report->baseline_count; k++)
			if (report->baselines[k].used &&
			    report->baselines[k].sample.value[GATE_STALL_RATIO] == result->odd)
				outline_item(o, "Odd one", "%s: %s", report->baselines[k].name,
					     gate_odd_words(result, text));
	}
}

static void add_baselines(const struct gate_report *report, struct outline *o)
{
	char first[GATE_WORDS] = "", last[GATE_WORDS] = "";
	double lowest = INFINITY, highest = -INFINITY;
	size_t used = 0, i;

	for (i = 0; i < report->baseline_count; i++) {
		const struct gate_run *run = &report->baselines[i];
		double value = run->sample.value[GATE_STALL_RATIO];

		if (!run->used)
			continue;
		gate_time_words(run, used++ ? last : first);
		lowest = fmin(lowest, value);
		highest = fmax(highest, value);
	}
	outline_items(o, "baselines");
	if (used)
		outline_item(o, "Baselines", "%zu runs%s%s%s%s, stall ratio %s to %s", used,
			     *first ? ", " : "", first, *last ? " to " : "", last,
			     UNITS_SHARE(lowest), UNITS_SHARE(highest));
	add_odd(report, o);
	for (i = 0; i < report->baseline_count; i++)
		if (*report->baselines[i].refused)
			outline_item(o, "Not used", "%s: %s", report->baselines[i].name,
				     report->baselines[i].refused);
}

void gate_outline(const struct gate_report *report, struct outline *o)
{
	const struct gate_item *first = gate_first_item(report);

	*o = (struct outline){0};
	add_verdict(report, o);
	add_items(report, o);
	add_runs(report, o);
	add_baselines(report, o);
	outline_items(o, OUTLINE_MORE);
	if (first && report->outcome != GATE_PASSED && first->result.run < report->run_count)
		outline_item(o, "More", "dlprof-report %s", report->runs[first->result.run].name);
}

void gate_calibration_outline(const struct gate_limit *limit,
			      const struct gate_calibration *calibration, struct outline *o)
{
	bool is_bound = limit->rule == GATE_BOUND;

	*o = (struct outline){0};
	outline_items(o, "calibration");
	outline_title(
		o,
		"%s of %s gates on runs between which nothing changed would have failed "
		"(%zu of %zu).",
		UNITS_SHARE((double)calibration->alarm_count / (double)calibration->draw_count),
		UNITS_COUNT((int64_t)calibration->draw_count), calibration->alarm_count,
		calibration->draw_count);
	outline_item(o, "Runs",
		     "%s, each gate with %d of them as baselines and %d to judge (rule "
		     "%s); %zu failed at least once",
		     UNITS_COUNT((int64_t)calibration->run_count), GATE_FEWEST_BASELINES,
		     is_bound ? 1 : GATE_SEPARATE_RUNS, is_bound ? "bound" : "separation",
		     calibration->alarm_run_count);
	outline_item(o, "Detectable",
		     "an increase of the stall ratio by %.1f pp is caught half of the "
		     "time, by %.1f pp 19 times of 20",
		     calibration->detect50 * 100, calibration->detect95 * 100);
	outline_item(o, "Confidence",
		     "the gates share %zu runs: 12 or more runs of the same code on "
		     "the same kind of machine make this a measurement",
		     calibration->run_count);
}

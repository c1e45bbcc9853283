/* SPDX-License-Identifier: Apache-2.0 */
/* gate_text.c - the gate for people: the outcome and its reason, each assertion, the runs. */
#include <math.h>
#include <string.h>

#include "render/gate.h"
#include "render/units.h"

static enum page_color color_of(enum gate_outcome outcome)
{
	return outcome == GATE_PASSED   ? PAGE_GREEN
	       : outcome == GATE_FAILED ? PAGE_RED
					: PAGE_YELLOW;
}

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

static void print_item(const struct gate_report *report, const struct gate_item *item,
		       const struct page *page)
{
	char found[GATE_WORDS], reason[GATE_WORDS];

	page_color(page, color_of(item->result.outcome));
	page_entry(page, 2, 13, item->is_error ? "error" : "warn", "%s   %s", item->text,
		   item_words(item));
	page_color(page, PAGE_PLAIN);
	page_entry(page, 4, 15, "", "%s", gate_found_words(item, found));
	if (*gate_reason_words(report, item, reason))
		page_entry(page, 4, 15, "", "%s", reason);
}

static void print_runs(const struct gate_report *report, const struct page *page)
{
	for (size_t i = 0; i < report->run_count; i++) {
		const struct gate_sample *sample = &report->runs[i].sample;
		char unfit[GATE_WORDS];

		gate_unfit_words(&report->runs[i], unfit);
		page_item(page, i ? "" : "Judged", "%s: stall ratio %s, %.0f batches%s%s",
			  report->runs[i].name, UNITS_SHARE(sample->value[GATE_STALL_RATIO]),
			  sample->value[GATE_BATCHES], *unfit ? "; " : "", unfit);
	}
}

static void print_baselines(const struct gate_report *report, const struct page *page)
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
	if (used) {
		page_item(page, "Baselines", "%zu runs%s%s%s%s, stall ratio %s to %s", used,
			  *first ? ", " : "", first, *last ? " to " : "", last, UNITS_SHARE(lowest),
			  UNITS_SHARE(highest));
	}
	for (i = 0; i < report->baseline_count; i++)
		if (*report->baselines[i].refused)
			page_item(page, "Not used", "%s: %s", report->baselines[i].name,
				  report->baselines[i].refused);
}

void gate_text(const struct gate_report *report, const struct page *page)
{
	const struct gate_item *first = gate_first_item(report);
	char why[GATE_WORDS];

	page_color(page, color_of(report->outcome));
	page_entry(page, 2, 2, "", "%s", gate_outcome_words(report->outcome));
	page_color(page, PAGE_PLAIN);
	page_entry(page, 2, 2, "", "%s", gate_why_words(report, why));
	page_break(page);
	for (size_t i = 0; i < report->item_count; i++)
		print_item(report, &report->items[i], page);
	page_break(page);
	print_runs(report, page);
	print_baselines(report, page);
	if (first && report->outcome != GATE_PASSED && first->result.run < report->run_count)
		page_item(page, "More", "dlprof-report %s", report->runs[first->result.run].name);
}

void gate_calibration_text(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, const struct page *page)
{
	bool is_bound = limit->rule == GATE_BOUND;

	page_entry(page, 2, 2, "",
		   "%s of %s gates on runs between which nothing changed would have failed (%zu of "
		   "%zu).",
		   UNITS_SHARE((double)calibration->alarm_count / (double)calibration->draw_count),
		   UNITS_COUNT((int64_t)calibration->draw_count), calibration->alarm_count,
		   calibration->draw_count);
	page_break(page);
	page_item(page, "Runs",
		  "%s, each gate with %zu of them as baselines and %zu to judge (rule "
		  "%s); %zu failed at least once",
		  UNITS_COUNT((int64_t)calibration->run_count), limit->baseline_needed,
		  is_bound ? (size_t)1 : limit->run_needed, is_bound ? "bound" : "separation",
		  calibration->alarm_run_count);
	page_item(page, "Detectable",
		  "an increase of the stall ratio by %.1f pp is caught half of the "
		  "time, by %.1f pp 19 times of 20",
		  calibration->detect50 * 100, calibration->detect95 * 100);
	page_item(page, "Confidence",
		  "the gates share %zu runs: 12 or more runs of the same code on "
		  "the same kind of machine make this a measurement",
		  calibration->run_count);
}

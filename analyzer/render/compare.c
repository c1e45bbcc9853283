/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - the comparison for people and as `dlprof.compare/2`. In JSON times are seconds a
 * batch, shares 0-1; `differs` false is what text marks by "~".
 */
#include "render/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/jsonw.h"
#include "render/units.h"
#include "render/verdict.h"

#define PER_BATCH  1e6 /* ns a batch: seconds of 1,000 */
#define LABEL      16
#define CELL       10
#define WITH_RANGE 72 /* columns from which the interval has room */

static const struct {
	const char *words;
	enum page_color color;
} RESULTS[COMPARE_RESULTS] = {
	[COMPARE_CANNOT_SAY] = {"CANNOT SAY", PAGE_BOLD},
	[COMPARE_SAME] = {"NO DIFFERENCE", PAGE_BOLD},
	[COMPARE_FASTER] = {"FASTER", PAGE_GREEN},
	[COMPARE_SLOWER] = {"SLOWER", PAGE_RED},
};

static const char *const LABELS[COMPARE_ROWS] = {
	[COMPARE_STEP] = "step",
	[COMPARE_WAIT] = "  wait",
	[COMPARE_COMPUTE] = "  compute",
	[COMPARE_EPOCH_START] = "    epoch starts",
	[COMPARE_RECEIVING] = "    receiving",
	[COMPARE_EPOCH_END] = "    epoch ends",
	[COMPARE_GPU_BUSY] = "GPU busy",
	[COMPARE_GPU_IDLE] = "GPU idle, waits",
	[COMPARE_LOAD] = "load",
	[COMPARE_OPEN] = "  open",
	[COMPARE_READ] = "  read",
	[COMPARE_DECODE] = "  decode",
	[COMPARE_COLLATE] = "  collate",
	[COMPARE_OTHER] = "  other",
	[COMPARE_TRANSFER] = "transfer",
	[COMPARE_STALL] = "stall",
};

static const char *value_text(const struct fingerprint *print, enum fingerprint_field field,
			      char buffer[UNITS_MAX])
{
	int64_t number = print->number[field];

	switch (fingerprint_kind(field)) {
	case FINGERPRINT_TEXT:
		return print->text[field];
	case FINGERPRINT_FLAG:
		return number ? "true" : "false";
	case FINGERPRINT_NUMBER:
		break;
	}
	return units_count(buffer, number);
}

static void list_fields(const struct compared *compared, unsigned fields, const char *label,
			const struct page *page)
{
	for (int field = 0; field < FINGERPRINT_MAX; field++) {
		enum fingerprint_field which = (enum fingerprint_field)field;

		if (!(fields & FINGERPRINT_BIT(field)))
			continue;
		page_item(page, label, "%s: %.400s -> %.400s", fingerprint_name(which),
			  value_text(&compared->prints[0], which, UNITS_BUFFER),
			  value_text(&compared->prints[1], which, UNITS_BUFFER));
		label = "";
	}
}

static void print_head(const struct compared *compared, const struct page *page)
{
	const struct report *const sides[2] = {compared->a, compared->b};

	for (int i = 0; i < 2; i++)
		page_line(page, "%s %c  %s  rank %" PRId64 "  %s batches", i ? "      " : "dlprof",
			  'A' + i, sides[i]->name, sides[i]->run.rank,
			  UNITS_COUNT((int64_t)sides[i]->finding.batch_count));
	page_break(page);
}

static void print_result(const struct compared *compared, const struct page *page)
{
	const struct comparison *c = &compared->comparison;
	const struct compare_difference *step = &c->rows[COMPARE_STEP];
	enum page_color color = compared->mismatch ? PAGE_BOLD : RESULTS[c->result].color;
	const char *words = compared->mismatch ? "NOT COMPARABLE" : RESULTS[c->result].words;
	char text[512] = "";

	if (compared->mismatch)
		page_append(text, sizeof(text),
			    "these are not two runs of the same training on the same machine");
	else if (c->result == COMPARE_CANNOT_SAY && isnan(c->low))
		page_append(text, sizeof(text),
			    "too few batches, or their times were not observed");
	else if (c->result == COMPARE_CANNOT_SAY)
		page_append(text, sizeof(text),
			    "B is %s to %s as fast, as far as these runs can tell: they are "
			    "too short, or too unsteady",
			    UNITS_FACTOR(c->low), UNITS_FACTOR(c->high));
	else
		page_append(text, sizeof(text), "%s (%s to %s): %.4g -> %.4g batches/s",
			    UNITS_FACTOR(c->speedup), UNITS_FACTOR(c->low), UNITS_FACTOR(c->high),
			    NS_PER_S / step->a, NS_PER_S / step->b);
	page_color(page, color);
	page_entry(page, 2, 2 + (int)strlen(words) + 3, words, "%s", text);
	page_color(page, PAGE_PLAIN);
	list_fields(compared, compared->mismatch, "Differs", page);
	page_break(page);
}

static void print_changes(const struct compared *compared, const struct page *page)
{
	const struct report *a = compared->a, *b = compared->b;
	const struct compare_difference *stall = &compared->comparison.rows[COMPARE_STALL];
	const char *cause_a = cause_name(a->diagnosis.cause);
	const char *cause_b = cause_name(b->diagnosis.cause);

	if (!isnan(stall->change) && stall->differs)
		page_item(page, "Stall", "%s -> %s of the time: %+.1f points (%+.1f to %+.1f)",
			  UNITS_SHARE(stall->a), UNITS_SHARE(stall->b), 100 * stall->change,
			  100 * stall->low, 100 * stall->high);
	else if (!isnan(stall->change))
		page_item(page, "Stall", "%s -> %s of the time ~ noise (%+.1f to %+.1f points)",
			  UNITS_SHARE(stall->a), UNITS_SHARE(stall->b), 100 * stall->low,
			  100 * stall->high);
	if (a->finding.verdict == b->finding.verdict)
		page_item(page, "Verdict", "%s, both", verdict_of(a->finding.verdict)->words);
	else
		page_item(page, "Verdict", "%s -> %s", verdict_of(a->finding.verdict)->words,
			  verdict_of(b->finding.verdict)->words);
	if (cause_a && cause_b && strcmp(cause_a, cause_b) == 0)
		page_item(page, "Cause", "%s, both", cause_a);
	else if (cause_a || cause_b)
		page_item(page, "Cause", "%s -> %s", cause_a ? cause_a : "?",
			  cause_b ? cause_b : "?");
	if (compared->changed)
		list_fields(compared, compared->changed, "Changed", page);
	else
		page_item(page, "Changed", "no known setting of the loader");
	list_fields(compared, compared->noted, "Also", page);
	page_break(page);
}

static const char *cell(char buffer[UNITS_MAX], double ns)
{
	double seconds = ns / PER_BATCH;

	if (isnan(ns))
		return "-";
	snprintf(buffer, UNITS_MAX, "%.*f",
		 seconds < 1     ? 4
		 : seconds < 10  ? 3
		 : seconds < 100 ? 2
				 : 1,
		 seconds);
	return buffer;
}

static void print_row(const struct page *page, enum compare_row row,
		      const struct compare_difference *d)
{
	char a[UNITS_MAX], b[UNITS_MAX], change[UNITS_MAX] = "", range[2 * UNITS_MAX] = "";
	int digits = fabs(d->change) < 10 * PER_BATCH ? 3 : 1;

	if (isnan(d->a) && isnan(d->b))
		return;
	if (!isnan(d->change))
		snprintf(change, sizeof(change), d->differs ? "%+.*f" : "~", digits,
			 d->change / PER_BATCH);
	if (!isnan(d->low) && page->width >= WITH_RANGE)
		snprintf(range, sizeof(range), "%+.*f to %+.*f", digits, d->low / PER_BATCH, digits,
			 d->high / PER_BATCH);
	page_line(page, "  %-*s %*s %*s %*s%s%s", LABEL, LABELS[row], CELL, cell(a, d->a), CELL,
		  cell(b, d->b), CELL, change, *range ? "  " : "", range);
}

static void print_rows(const struct compared *compared, const struct page *page)
{
	page_line(page, "  %-*s %*s %*s %*s%s", LABEL, "s per 1,000", CELL, "A", CELL, "B", CELL,
		  "change", page->width >= WITH_RANGE ? "  95 % interval" : "");
	for (int row = 0; row < COMPARE_STALL; row++)
		print_row(page, (enum compare_row)row, &compared->comparison.rows[row]);
	page_break(page);
}

void compare_text(const struct compared *compared, const struct page *page)
{
	print_head(compared, page);
	print_result(compared, page);
	print_changes(compared, page);
	print_rows(compared, page);
	page_item(page, "~",
		  "perhaps noise: the interval includes 0, or it is under 2 %% of the step (2 "
		  "points of stall)");
	page_item(page, "Range",
		  "covers what varies within each run, not caches or neighbours that differ "
		  "between the runs. Swap the order and run both again");
}

static void add_run(struct jsonw *json, const char *key, const struct report *report)
{
	const struct finding *finding = &report->finding;

	jsonw_open(json, key, '{');
	jsonw_string(json, "path", report->name);
	jsonw_string(json, "id", report->run.id);
	jsonw_int(json, "rank", report->run.rank);
	jsonw_string(json, "verdict", stall_verdict_ids[finding->verdict]);
	jsonw_string(json, "cause", cause_name(report->diagnosis.cause));
	jsonw_number(json, "stall_ratio", finding->stall_ratio);
	jsonw_int(json, "batches", (int64_t)finding->batch_count);
	jsonw_int(json, "steady_batches", (int64_t)finding->steady_count);
	jsonw_close(json, '}');
}

static void add_value(struct jsonw *json, const char *key, const struct fingerprint *print,
		      enum fingerprint_field field)
{
	if (fingerprint_kind(field) == FINGERPRINT_TEXT)
		jsonw_string(json, key, print->text[field]);
	else if (fingerprint_kind(field) == FINGERPRINT_FLAG)
		jsonw_tristate(json, key, print->number[field]);
	else
		jsonw_int(json, key, print->number[field]);
}

static void add_fields(struct jsonw *json, const char *key, const struct compared *compared,
		       unsigned fields)
{
	jsonw_open(json, key, '[');
	for (int field = 0; field < FINGERPRINT_MAX; field++) {
		enum fingerprint_field which = (enum fingerprint_field)field;

		if (!(fields & FINGERPRINT_BIT(field)))
			continue;
		jsonw_open(json, NULL, '{');
		jsonw_string(json, "field", fingerprint_name(which));
		add_value(json, "a", &compared->prints[0], which);
		add_value(json, "b", &compared->prints[1], which);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

static void add_difference(struct jsonw *json, enum compare_row row,
			   const struct compare_difference *d)
{
	double unit = row == COMPARE_STALL ? 1 : NS_PER_S;

	jsonw_open(json, compare_row_names[row], '{');
	jsonw_number(json, "a", d->a / unit);
	jsonw_number(json, "b", d->b / unit);
	jsonw_number(json, "change", d->change / unit);
	jsonw_range(json, "ci95", d->low / unit, d->high / unit);
	jsonw_tristate(json, "differs", isnan(d->low) ? SERIES_UNKNOWN : d->differs);
	jsonw_close(json, '}');
}

void compare_json(const struct compared *compared, FILE *out)
{
	const struct comparison *c = &compared->comparison;
	struct jsonw json;

	jsonw_begin(&json, out, "dlprof.compare/2");
	add_run(&json, "a", compared->a);
	add_run(&json, "b", compared->b);
	jsonw_bool(&json, "comparable", !compared->mismatch);
	add_fields(&json, "mismatches", compared, compared->mismatch);
	add_fields(&json, "changes", compared, compared->changed);
	add_fields(&json, "notes", compared, compared->noted);
	jsonw_string(&json, "result",
		     compared->mismatch ? "not_comparable" : compare_result_name(c->result));
	jsonw_open(&json, "speedup", '{');
	jsonw_number(&json, "factor", c->speedup);
	jsonw_range(&json, "ci95", c->low, c->high);
	jsonw_close(&json, '}');
	jsonw_open(&json, "rows", '{');
	for (int row = 0; row < COMPARE_ROWS; row++)
		add_difference(&json, (enum compare_row)row, &c->rows[row]);
	jsonw_close(&json, '}');
	jsonw_close(&json, '}');
}

/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c - writes a comparison. " " in the text means what `differs` false means in JSON. */
#include "render/run/compare.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/predict/same.h"
#include "render/form/facts.h"
#include "render/form/units.h"
#include "render/form/verdict.h"

#define CPU_LEADS 0.5
#define PER_BATCH 1e6 /* (ns for a batch) / PER_BATCH is (s for 1,000 batches) */

static const struct {
	const char *words;
	enum page_color color;
	const char *proof;
} RESULTS[COMPARE_RESULTS] = {
	[COMPARE_CANNOT_SAY] = {"CANNOT SAY", PAGE_BOLD, "what the change brings is not known"},
	[COMPARE_SAME] = {"NO DIFFERENCE", PAGE_BOLD, "the change brings nothing"},
	[COMPARE_FASTER] = {"FASTER", PAGE_GREEN, "the change makes it faster"},
	[COMPARE_SLOWER] = {"SLOWER", PAGE_RED, "the change makes it slower"},
};

/* The rows' names for people. JSON has other names, which are older and must not change. */
static const char *const LABELS[COMPARE_ROWS] = {
#define X(id, name, label) label,
	COMPARE_ROWS_LIST(X)
#undef X
};

static const char *value_text(const struct fingerprint *print, enum fingerprint_field field,
			      char buffer[UNITS_MAX])
{
	int64_t number = print->number[field];

	switch (fingerprint_fields[field].kind) {
	case FINGERPRINT_TEXT:
		return *print->text[field] ? print->text[field] : "nothing";
	case FINGERPRINT_FLAG:
		return number ? "true" : "false";
	case FINGERPRINT_NUMBER:
		break;
	}
	return units_count(buffer, number);
}

static void add_fields(const struct compared *compared, unsigned fields, const char *label,
		       struct outline *o)
{
	for (int field = 0; field < FINGERPRINT_MAX; field++) {
		enum fingerprint_field which = (enum fingerprint_field)field;

		if (!(fields & FINGERPRINT_BIT(field)))
			continue;
		outline_item(o, label, "%s: %.400s -> %.400s", fingerprint_fields[which].name,
			     value_text(&compared->prints[0], which, UNITS_BUFFER),
			     value_text(&compared->prints[1], which, UNITS_BUFFER));
		label = "";
	}
}

static void add_head(const struct compared *compared, struct outline *o)
{
	const struct report *const sides[2] = {compared->a, compared->b};

	outline_items(o, OUTLINE_HEAD);
	for (int i = 0; i < 2; i++) {
		outline_item(o, i ? "B" : "A", "%s batches, rank %" PRId64,
			     UNITS_COUNT((int64_t)sides[i]->finding.batch_count),
			     sides[i]->run.rank);
		outline_cell(o, "%s", sides[i]->name);
	}
}

static void add_result(const struct compared *compared, struct outline *o)
{
	const struct comparison *c = &compared->comparison;
	const struct compare_difference *step = &c->rows[COMPARE_STEP];

	outline_items(o, OUTLINE_VERDICT);
	outline_first(o, compared->mismatch ? PAGE_BOLD : RESULTS[c->result].color, "%s",
		      compared->mismatch ? "NOT COMPARABLE" : RESULTS[c->result].words);
	if (compared->mismatch)
		outline_cell(o, "these are not two runs of the same training on the same machine");
	else if (c->result == COMPARE_CANNOT_SAY && isnan(c->low))
		outline_cell(o, "too few batches, or their times were not observed");
	else if (c->result == COMPARE_CANNOT_SAY)
		outline_cell(o,
			     "B is %s to %s as fast, as far as these runs can tell: they are "
			     "too short, or too unsteady",
			     UNITS_FACTOR(c->low), UNITS_FACTOR(c->high));
	else
		outline_cell(o, "%s (%s to %s): %.4g -> %.4g batches/s", UNITS_FACTOR(c->speedup),
			     UNITS_FACTOR(c->low), UNITS_FACTOR(c->high), NS_PER_S / step->a,
			     NS_PER_S / step->b);
}

static void add_change(struct outline *o, const char *label, const char *a, const char *b)
{
	if (strcmp(a, b) == 0)
		outline_item(o, label, "%s, both", a);
	else
		outline_item(o, label, "%s -> %s", a, b);
}

static bool is_shared(const struct compared *compared)
{
	return compare_is_shared(&compared->comparison, compared->a->series.workers,
				 compared->b->series.workers);
}

bool compare_shared(const struct compared *compared, char *text, size_t size)
{
	const struct compare_difference *load = &compared->comparison.rows[COMPARE_LOAD];
	const struct report *a = compared->a, *b = compared->b;
	bool is_cpu = fmax(a->diagnosis.grounds.cpu_share, b->diagnosis.grounds.cpu_share) >=
		      CPU_LEADS;

	if (!is_shared(compared))
		return false;
	snprintf(text, size,
		 "%" PRId32 " -> %" PRId32 " workers, and a load takes %s instead of %s: the "
		 "workers share %s, so more of them bring nothing",
		 a->series.workers, b->series.workers, UNITS_TIME(load->b), UNITS_TIME(load->a),
		 is_cpu ? "the cores" : "what they wait for (a server, disk, lock or rate limit)");
	return true;
}

static enum same same_samples(const struct compared *compared)
{
	static const struct {
		enum fingerprint_field field;
		enum dlprof_set key;
	} settings[] = {
		{FINGERPRINT_WORKERS, DLPROF_SET_WORKERS},
		{FINGERPRINT_PREFETCH_FACTOR, DLPROF_SET_PREFETCH},
		{FINGERPRINT_IN_ORDER, DLPROF_SET_IN_ORDER},
		{FINGERPRINT_PERSISTENT_WORKERS, DLPROF_SET_PERSISTENT},
	};
	const struct fingerprint *a = &compared->prints[0], *b = &compared->prints[1];
	const char *kind = a->text[FINGERPRINT_LOADER];
	enum same most = SAME_ALL;

	for (size_t i = 0; i < ARRAY_COUNT(settings); i++) {
		enum same same;

		if (!(compared->changed & FINGERPRINT_BIT(settings[i].field)))
			continue;
		same = same_after(settings[i].key, a->number[settings[i].field],
				  b->number[settings[i].field], kind && strstr(kind, "(iterable)"));
		most = same > most ? same : most;
	}
	return most;
}

static void add_proof(const struct compared *compared, struct outline *o)
{
	const char *kind = compared->prints[0].text[FINGERPRINT_LOADER];

	if (!compared->changed || compared->mismatch || !kind || !strstr(kind, "DataLoader"))
		return;
	outline_item(o, "Proof",
		     "%s, as far as one run of each tells (dlprof tune takes several)%s; its "
		     "samples: %s",
		     RESULTS[compared->comparison.result].proof,
		     series_others_differ(&compared->a->series, &compared->b->series)
			     ? ", unless other programs do"
			     : "",
		     same_words[same_samples(compared)]);
}

static void add_others(const struct compared *compared, struct outline *o)
{
	const struct batch_series *a = &compared->a->series, *b = &compared->b->series;

	if (series_others_differ(a, b))
		outline_item(o, "Others",
			     "other programs took %.2g of the %.3g cores beside A, and %.2g "
			     "beside B: part of the difference may be theirs",
			     a->other_cores, a->cores, b->other_cores);
}

static void add_changes(const struct compared *compared, struct outline *o)
{
	const struct report *a = compared->a, *b = compared->b;
	const struct compare_difference *stall = &compared->comparison.rows[COMPARE_STALL];
	const char *cause_a = cause_names[a->diagnosis.cause];
	const char *cause_b = cause_names[b->diagnosis.cause];
	char shared[COMPARE_SHARED];

	outline_items(o, "changes");
	add_fields(compared, compared->mismatch, "Differs", o);
	if (a->finding.verdict == STALL_VERDICT_IN_DOUBT ||
	    b->finding.verdict == STALL_VERDICT_IN_DOUBT)
		outline_item(o, "Stall", "%s", VERDICT_DOUBT);
	else if (!isnan(stall->change) && stall->differs)
		outline_item(o, "Stall", "%s -> %s of the time: %+.1f points (%+.1f to %+.1f)",
			     UNITS_SHARE(stall->a), UNITS_SHARE(stall->b), 100 * stall->change,
			     100 * stall->low, 100 * stall->high);
	else if (!isnan(stall->change))
		outline_item(o, "Stall", "%s -> %s of the time ~ noise (%+.1f to %+.1f points)",
			     UNITS_SHARE(stall->a), UNITS_SHARE(stall->b), 100 * stall->low,
			     100 * stall->high);
	add_change(o, "Verdict", verdict_of(a->finding.verdict)->words,
		   verdict_of(b->finding.verdict)->words);
	if (cause_a || cause_b)
		add_change(o, "Cause", cause_a ? cause_a : "?", cause_b ? cause_b : "?");
	if (compare_shared(compared, shared, sizeof(shared)))
		outline_item(o, "Shared", "%s", shared);
	if (compared->changed)
		add_fields(compared, compared->changed, "Changed", o);
	else
		outline_item(o, "Changed", "no known setting of the loader");
	add_others(compared, o);
	add_proof(compared, o);
	add_fields(compared, compared->noted, "Also", o);
}

static void add_time(struct outline *o, double ns)
{
	double seconds = ns / PER_BATCH;

	if (isnan(ns))
		outline_cell(o, "-");
	else
		outline_cell(o, "%.*f",
			     seconds < 1     ? 4
			     : seconds < 10  ? 3
			     : seconds < 100 ? 2
					     : 1,
			     seconds);
}

static void add_row(struct outline *o, const char *label, const struct compare_difference *d)
{
	int digits = fabs(d->change) < 10 * PER_BATCH ? 3 : 1;

	if ((isnan(d->a) || d->a == 0) && (isnan(d->b) || d->b == 0))
		return;
	outline_cells(o, label);
	add_time(o, d->a);
	add_time(o, d->b);
	if (isnan(d->change))
		return;
	if (d->differs)
		outline_cell(o, "%+.*f", digits, d->change / PER_BATCH);
	else
		outline_cell(o, "~");
	if (!isnan(d->low))
		outline_cell(o, "%+.*f to %+.*f", digits, d->low / PER_BATCH, digits,
			     d->high / PER_BATCH);
}

void compare_outline(const struct compared *compared, struct outline *o)
{
	*o = (struct outline){0};
	add_head(compared, o);
	add_result(compared, o);
	add_changes(compared, o);
	outline_table(o, "rows", "s per 1,000", "#A", "#B", "#Change", "#95 % interval");
	for (int row = 0; row < COMPARE_STALL; row++)
		add_row(o, LABELS[row], &compared->comparison.rows[row]);
	outline_items(o, "notes");
	outline_item(o, "~",
		     "perhaps noise: the interval includes 0, or it is under 2 %% of a batch's "
		     "time (2 points of stall)");
	outline_item(o, "Range",
		     "covers what varies within each run, not caches or neighbours that differ "
		     "between the runs. Swap the order and run both again");
}

static void put_setting(struct jsonw *json, const char *key, const struct fingerprint *print,
			enum fingerprint_field field)
{
	if (fingerprint_fields[field].kind == FINGERPRINT_TEXT)
		jsonw_string(json, key, print->text[field]);
	else if (fingerprint_fields[field].kind == FINGERPRINT_FLAG)
		jsonw_tristate(json, key, print->number[field]);
	else
		jsonw_int(json, key, print->number[field]);
}
#define jsonw_setting(json, key, print) put_setting(json, key, print, (enum fingerprint_field)i)

void compare_json(const struct compared *compared, FILE *out)
{
	const struct comparison *c = &compared->comparison;
	const struct fingerprint *a = &compared->prints[0], *b = &compared->prints[1];
	struct jsonw writer, *json = &writer;

	jsonw_begin(json, out, "dlprof.compare/2");
#include "render/run/compare.def"
	jsonw_close(json, '}');
}

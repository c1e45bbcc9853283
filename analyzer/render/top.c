/* SPDX-License-Identifier: Apache-2.0 */
#include "render/top.h"

#include <math.h>

#include "render/code.h"
#include "render/explain.h"
#include "render/jsonw.h"
#include "render/outline.h"
#include "render/units.h"
#include "render/verdict.h"

#define WORKER_LINES 16
#define LATE_NS      5000000000 /* without a batch for so long, it is worth a word */

static void add_head(const struct top *top, struct outline *o)
{
	outline_items(o, OUTLINE_HEAD);
	outline_item(o, "top", "rank %lld%s", (long long)top->run->rank,
		     top->live ? "" : ", the run is over");
	outline_cell(o, "%s", top->path);
}

static void add_stuck(const struct top *top, struct outline *o)
{
	struct code_names names;

	if (!top->stuck_count)
		return;
	names = code_names(&top->samples, top->run->command);
	code_stuck(&names, top->stuck, top->stuck_count, o);
	code_names_done(&names);
}

static void add_now(const struct top *top, struct outline *o)
{
	const struct finding *finding = &top->finding;
	const char *cause = cause_names[top->diagnosis.cause];

	outline_items(o, "now");
	add_stuck(top, o);
	if (top->run->command)
		outline_item(o, "Command", "%s", top->run->command);
	outline_item(o, "Now", "epoch %lld, batch %lld; %s batches/s over the last %zu",
		     (long long)top->epoch, (long long)top->batch, UNITS_RATE(top->batches_per_s),
		     top->window);
	if (top->loader_count > 1)
		outline_item(o, "Loader", "%lld of %lld, which delivered last",
			     (long long)top->loader_id, (long long)top->loader_count);
	if (top->since_ns > LATE_NS)
		outline_item(o, "Late", "no batch for %s", UNITS_TIME((double)top->since_ns));
	if (cause && top->diagnosis.cause != CAUSE_NONE)
		outline_item(o, "Cause", "%s", explain_find(cause)->line);
	outline_item(o, "Wait", "median %s, 99 %% within %s", UNITS_TIME(finding->wait_p50_ns),
		     UNITS_TIME(finding->wait_p99_ns));
	outline_item(o, "Compute", "median %s, 99 %% within %s",
		     UNITS_TIME(finding->compute_p50_ns), UNITS_TIME(finding->compute_p99_ns));
	if (!isnan(top->queue_mean))
		outline_item(o, "Queue",
			     "%lld finished batches waited for the newest, %.1f on average",
			     (long long)top->queue_now, top->queue_mean);
}

static void add_verdict(const struct top *top, struct outline *o)
{
	const struct finding *finding = &top->finding;
	const struct verdict *verdict = verdict_of(finding->verdict);
	enum verdict_clock clock = verdict_clock(finding);
	char sentence[VERDICT_SENTENCE];

	/* The report counts all loaders' waits. */
	if (clock == VERDICT_HOST && top->loader_count > 1)
		clock = VERDICT_LOADER;
	outline_items(o, OUTLINE_VERDICT);
	outline_row(o, verdict->tone);
	outline_cell(o, "%s", verdict->words);
	outline_cell(
		o, "%s",
		finding->verdict == STALL_VERDICT_INCOMPLETE
			? "too little is known yet"
			: verdict_sentence(sentence, clock, finding->stall_ratio));
}

static double mean_load(const struct top_worker *worker)
{
	return worker->load_count ? worker->load_ns / (double)worker->load_count : NAN;
}

static void add_workers(const struct top *top, struct outline *o)
{
	static const char *const headings[] = {"#Worker",    "#Loads", "#Mean load",
					       "#Last load", "",       NULL};
	int64_t shown = top->worker_count < WORKER_LINES ? top->worker_count : WORKER_LINES;

	outline_table(o, "workers", headings);
	outline_strip(o, &top->series, stall_waits(&top->series, &top->finding));
	for (int64_t i = 0; i < shown; i++) {
		const struct top_worker *worker = &top->workers[i];
		bool slow = top->diagnosis.slow.worker == i;

		outline_row(o, slow ? PAGE_RED : PAGE_PLAIN);
		outline_cell(o, "%lld", (long long)i);
		outline_cell(o, "%lld", (long long)worker->load_count);
		outline_cell(o, "%s", UNITS_TIME(mean_load(worker)));
		outline_cell(o, "%s",
			     UNITS_TIME(worker->load_count ? (double)worker->last_ns : NAN));
		outline_cell(o, "%s", slow ? "slower than the others" : "");
	}
	if (shown < top->worker_count) {
		outline_items(o, "workers");
		outline_item(o, "", "and %lld more", (long long)(top->worker_count - shown));
	}
}

int top_text(const struct top *top, const struct page *page)
{
	struct outline outline = {0};

	if (!top->window) {
		outline_items(&outline, "now");
		outline_item(&outline, "Now", "no batch yet");
		add_stuck(top, &outline);
		return outline_show(&outline, page, false);
	}
	add_head(top, &outline);
	add_verdict(top, &outline);
	add_now(top, &outline);
	add_workers(top, &outline);
	return outline_show(&outline, page, false);
}

void top_json(const struct top *top, FILE *out)
{
	struct jsonw json;

	jsonw_begin(&json, out, "dlprof.top/2");
	jsonw_string(&json, "path", top->path);
	jsonw_string(&json, "id", top->run->id);
	jsonw_bool(&json, "live", top->live);
	jsonw_int(&json, "rank", top->run->rank);
	jsonw_int(&json, "loader", top->loader_id);
	jsonw_int(&json, "epoch", top->epoch);
	jsonw_int(&json, "batch", top->batch);
	jsonw_ns(&json, "since_last_s", top->since_ns);
	jsonw_number(&json, "batches_per_s", top->batches_per_s);
	jsonw_int(&json, "window_batches", (int64_t)top->window);
	jsonw_string(&json, "verdict", stall_verdict_ids[top->finding.verdict]);
	jsonw_string(&json, "cause", cause_names[top->diagnosis.cause]);
	jsonw_number(&json, "stall_ratio", top->finding.stall_ratio);
	jsonw_number(&json, "wait_p50_s", top->finding.wait_p50_ns / 1e9);
	jsonw_number(&json, "compute_p50_s", top->finding.compute_p50_ns / 1e9);
	jsonw_int(&json, "queue", top->queue_now);
	code_stuck_json(&top->samples, top->stuck, top->stuck_count, &json);
	jsonw_open(&json, "workers", '[');
	for (int64_t i = 0; i < top->worker_count; i++) {
		const struct top_worker *worker = &top->workers[i];

		jsonw_open(&json, NULL, '{');
		jsonw_int(&json, "worker", i);
		jsonw_int(&json, "loads", worker->load_count);
		jsonw_number(&json, "load_mean_s", mean_load(worker) / 1e9);
		jsonw_close(&json, '}');
	}
	jsonw_close(&json, ']');
	jsonw_close(&json, '}');
}

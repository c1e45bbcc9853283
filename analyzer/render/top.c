/* SPDX-License-Identifier: Apache-2.0 */
#include "render/top.h"

#include <math.h>

#include "render/explain.h"
#include "render/jsonw.h"
#include "render/strip.h"
#include "render/units.h"
#include "render/verdict.h"

#define WORKER_LINES 16
#define LATE_NS      5000000000 /* without a batch for so long, it is worth a word */

static void print_head(const struct top *top, const struct page *page)
{
	char rate[UNITS_MAX] = "?";

	page_color(page, PAGE_BOLD);
	page_line(page, "dlprof top  %s  rank %lld", top->path, (long long)top->run->rank);
	page_color(page, PAGE_PLAIN);
	if (top->run->command)
		page_line(page, "%s", top->run->command);
	page_break(page);
	if (!isnan(top->batches_per_s))
		snprintf(rate, sizeof(rate), "%.3g", top->batches_per_s);
	page_item(page, "Now", "epoch %lld, batch %lld; %s batches/s over the last %zu%s",
		  (long long)top->epoch, (long long)top->batch, rate, top->series.count,
		  top->live ? "" : "; the run is over");
	if (top->loader_count > 1)
		page_item(page, "Loader", "%lld of %lld, which delivered last",
			  (long long)top->loader_id, (long long)top->loader_count);
	if (top->since_ns > LATE_NS)
		page_item(page, "Late", "no batch for %s", UNITS_TIME((double)top->since_ns));
}

static void print_verdict(const struct top *top, const struct page *page)
{
	const struct finding *finding = &top->finding;
	const char *cause = cause_name(top->diagnosis.cause);
	const struct explanation *page_of_cause = cause ? explain_find(cause) : NULL;
	const struct verdict *verdict = verdict_of(finding->verdict);
	char sentence[VERDICT_SENTENCE];

	page_color(page, verdict->tone);
	page_item(page, "Verdict", "%s: %s", verdict->words,
		  finding->verdict == STALL_VERDICT_INCOMPLETE
			  ? "too little is known yet"
			  : verdict_sentence(sentence, verdict_clock(finding),
					     finding->stall_ratio));
	page_color(page, PAGE_PLAIN);
	if (page_of_cause && top->diagnosis.cause != CAUSE_NONE)
		page_item(page, "Cause", "%s", page_of_cause->line);
}

static void print_times(const struct top *top, const struct page *page)
{
	const struct finding *finding = &top->finding;

	page_item(page, "Wait", "median %s, 99 %% within %s", UNITS_TIME(finding->wait_p50_ns),
		  UNITS_TIME(finding->wait_p99_ns));
	page_item(page, "Compute", "median %s, 99 %% within %s",
		  UNITS_TIME(finding->compute_p50_ns), UNITS_TIME(finding->compute_p99_ns));
	if (!isnan(top->queue_mean))
		page_item(page, "Queue",
			  "%lld finished batches waited for the newest, %.1f on average",
			  (long long)top->queue_now, top->queue_mean);
}

static double mean_load(const struct top_worker *worker)
{
	return worker->load_count ? worker->load_ns / (double)worker->load_count : NAN;
}

static void print_workers(const struct top *top, const struct page *page)
{
	int64_t shown = top->worker_count < WORKER_LINES ? top->worker_count : WORKER_LINES;

	if (!shown)
		return;
	page_break(page);
	page_line(page, "  worker   loads   mean load   last load");
	for (int64_t i = 0; i < shown; i++) {
		const struct top_worker *worker = &top->workers[i];
		bool slow = top->diagnosis.slow.worker == i;

		page_color(page, slow ? PAGE_RED : PAGE_PLAIN);
		page_line(page, "  %6lld  %6lld  %10s  %10s%s", (long long)i,
			  (long long)worker->load_count, UNITS_TIME(mean_load(worker)),
			  UNITS_TIME(worker->load_count ? (double)worker->last_ns : NAN),
			  slow ? "  slower than the others" : "");
		page_color(page, PAGE_PLAIN);
	}
	if (shown < top->worker_count)
		page_line(page, "  and %lld more", (long long)(top->worker_count - shown));
}

void top_text(const struct top *top, const struct page *page)
{
	print_head(top, page);
	print_verdict(top, page);
	print_times(top, page);
	page_break(page);
	strip_print(page, &top->series, stall_waits(&top->series, &top->finding));
	print_workers(top, page);
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
	jsonw_int(&json, "window_batches", (int64_t)top->series.count);
	jsonw_string(&json, "verdict", stall_verdict_ids[top->finding.verdict]);
	jsonw_string(&json, "cause", cause_name(top->diagnosis.cause));
	jsonw_number(&json, "stall_ratio", top->finding.stall_ratio);
	jsonw_number(&json, "wait_p50_s", top->finding.wait_p50_ns / 1e9);
	jsonw_number(&json, "compute_p50_s", top->finding.compute_p50_ns / 1e9);
	jsonw_int(&json, "queue", top->queue_now);
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

/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.c - the foot of the page: what was seen, what was not, and where the run took place. */
#include <inttypes.h>
#include <stdarg.h>
#include <time.h>

#include "render/advise.h"
#include "render/gpu.h"
#include "render/html/sections.h"

#define MOST_NOTES 32

__attribute__((format(printf, 3, 4))) static void put_row(struct html *html, const char *name,
							  const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	html_put(html, "<tr><th scope=\"row\">%s</th><td>", name);
	html_text(html, text);
	html_put(html, "</td></tr>\n");
}

static void put_plain(void *html, const char *name, const char *text)
{
	put_row(html, name, "%s", text);
}

static void put_named(struct html *html, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	html_put(html, "<tr><th scope=\"row\">%s</th><td>", name);
	html_text(html, text);
	html_put(html, "</td></tr>\n");
}

static void put_loader(struct html *html)
{
	const struct report *report = html->report;
	const struct loader_info *loader = report->loader;
	const struct finding *f = &report->finding;
	char text[256] = "", time[UNITS_MAX], count[UNITS_MAX];
	size_t i;

	if (!loader)
		return;
	if (loader->in_order != QUERY_UNKNOWN && loader->workers != 0)
		page_append(text, sizeof(text), ", %s",
			    loader->in_order ? "in order" : "any order");
	if (loader->persistent != QUERY_UNKNOWN && loader->workers != 0)
		page_append(text, sizeof(text), ", %s",
			    loader->persistent ? "persistent workers" : "new workers every epoch");
	put_row(html, "Loader", "%s%s", loader->kind[0] ? loader->kind : "unknown kind", text);
	if (f->rho > 0 && f->load_mean_ns > 0) {
		double supply = report->series.workers / f->load_mean_ns * 1e9;

		put_row(html, "Capacity",
			"%d workers can load %.3g batches/s; without waiting the training would "
			"take "
			"%.3g",
			(int)report->series.workers, supply, supply * f->rho);
	}
	if (advise_others(report))
		put_row(html, "Cores",
			"other programs took %.2g of the %.3g cores on average; predictions count "
			"on the rest, and more workers may win some of theirs",
			report->series.other_cores, report->series.cores);
	for (i = 0; i < report->loader_count; i++)
		if (&report->loaders[i] != loader)
			put_row(html, "Not judged",
				"loader %" PRId64 ": %s, %s batches, %s (--loader %" PRId64 ")",
				report->loaders[i].loader_id,
				report->loaders[i].kind[0] ? report->loaders[i].kind
							   : "unknown kind",
				units_count(count, report->loaders[i].batch_count),
				html_time(time, (double)report->loaders[i].time_ns),
				report->loaders[i].loader_id);
}

static void put_filter(struct html *html)
{
	const struct batch_filter *filter = &html->report->filter;
	char text[128] = "";

	if (filter->epoch >= 0)
		page_append(text, sizeof(text), "epoch %" PRId64 " ", filter->epoch);
	if (filter->first >= 0)
		page_append(text, sizeof(text), "from batch %" PRId64 " ", filter->first);
	if (filter->last >= 0)
		page_append(text, sizeof(text), "to batch %" PRId64, filter->last);
	if (*text)
		put_row(html, "Only", "%s", text);
}

static void put_seen(struct html *html)
{
	const struct report *report = html->report;
	const struct finding *f = &report->finding;
	const struct run_info *run = &report->run;
	char count[UNITS_MAX], share[UNITS_MAX];

	if (f->verdict != STALL_VERDICT_INCOMPLETE)
		put_row(html, "Confidence", "%s: %zu steady batches%s%s",
			stall_confidence_id(f->confidence), f->steady_count,
			report->series.workers == 0 ? ""
						    : "; whether they were ready is known for ",
			report->series.workers == 0
				? ""
				: units_share(share, (double)f->readiness_count /
							     (double)f->steady_count));
	if (f->batch_count)
		gpu_coverage(report, put_plain, html);
	if (run->lost_count > 0)
		put_row(html, "Lost", "%s records were dropped",
			units_count(count, run->lost_count));
	if (f->missing_count)
		put_row(html, "Lost", "%s batches were delivered without a record",
			units_count(count, (int64_t)f->missing_count));
	if (f->batch_count && report->totals.load_count >= 0 &&
	    (size_t)report->totals.load_count < f->batch_count)
		put_row(html, "Not seen", "how %s of the batches were loaded",
			units_count(count, (int64_t)f->batch_count - report->totals.load_count));
	if (report->totals.load_count > 0 && report->totals.decode_ns == QUERY_UNKNOWN)
		put_row(html, "Not seen", "decoding: it counts as the dataset's code");
	if (f->batch_count && !report->series.gpu_busy_ns)
		put_row(html, "Not seen", "the GPU");
	put_named(html, "Not found", run->patch_missing);
	put_named(html, "Hidden decoders", run->decoders_hidden);
}

static void put_notes(struct html *html)
{
	const struct report *report = html->report;
	size_t i;

	for (i = 0; i < report->note_count && i < MOST_NOTES; i++)
		put_row(html, "Warning", "%s", report->notes[i]);
}

static void put_environment(struct html *html)
{
	const struct run_info *run = &html->report->run;
	time_t seconds = run->start_unix_ns / 1000000000;
	char text[64];
	struct tm tm;

	if (run->start_unix_ns != QUERY_UNKNOWN && run->start_unix_ns >= 0 &&
	    gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		put_row(html, "Begun", "%s", text);
	put_named(html, "Host", run->host);
	if (run->kernel)
		put_row(html, "Kernel", "%s", run->kernel);
	if (run->cpus > 0)
		put_row(html, "Cores", "%" PRId64, run->cpus);
	if (run->frameworks && *run->frameworks)
		put_row(html, "Frameworks", "%s", run->frameworks);
	put_row(html, "Rank", "%" PRId64, run->rank);
	put_row(html, "Processes", "%" PRId64, run->process_count);
	put_named(html, "Run", run->id);
	if (run->overhead)
		put_row(html, "Overhead", "%s", run->overhead);
	put_row(html, "Recorded by", "dlprof %s", run->version ? run->version : "?");
}

void html_coverage(struct html *html)
{
	html_section(html, "coverage", "What was seen, and where", "");
	html_put(html, "<table class=\"plain\"><tbody>\n");
	put_loader(html);
	put_filter(html);
	put_seen(html);
	put_notes(html);
	put_environment(html);
	html_put(html, "</tbody></table>\n");
	html_section_end(html);
}

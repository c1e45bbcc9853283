/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - the report for people: the verdict with its number and what fixing it can bring, then
 * the evidence, then how far it can be trusted. Every section is one function.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/advise.h"
#include "render/gpu.h"
#include "render/report.h"
#include "render/strip.h"
#include "render/units.h"
#include "render/verdict.h"

#define INDENT      2
#define WIDE        72 /* columns from which a bar line has room for quantiles */
#define TIME_WIDTH  11
#define LABEL_WIDTH 9 /* of a bar line */
#define MOST_NOTES  8
#define MOST_COPIES 4

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

static double duration_ns(const struct report *report)
{
	int64_t ns;

	if (report->run.start_ns == QUERY_UNKNOWN || report->run.end_ns == QUERY_UNKNOWN ||
	    __builtin_sub_overflow(report->run.end_ns, report->run.start_ns, &ns) || ns < 0)
		return NAN;
	return (double)ns;
}

static void print_head(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	char batches[UNITS_MAX], epochs[UNITS_MAX], time[UNITS_MAX];
	double ns = duration_ns(report);

	page_line(page, "dlprof %s  %s  rank %" PRId64 "  %s batch%s in %s epoch%s%s%s%s",
		  report->run.version ? report->run.version : "?", report->name, report->run.rank,
		  units_count(batches, (int64_t)finding->batch_count),
		  finding->batch_count == 1 ? "" : "es",
		  units_count(epochs, (int64_t)finding->epoch_count),
		  plural((int64_t)finding->epoch_count), isnan(ns) ? "" : "  ",
		  isnan(ns) ? "" : units_time(time, ns), report->live ? "  (still recording)" : "");
	if (report->run.command)
		page_line(page, "%s", report->run.command);
	page_break(page);
}

static void print_incomplete(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	char share[UNITS_MAX];

	page_color(page, PAGE_BOLD);
	page_entry(page, INDENT, INDENT + 13, verdict_of(finding->verdict)->words, "%s.",
		   verdict_reason(finding->gap));
	page_color(page, PAGE_PLAIN);
	page_entry(page, INDENT, INDENT, "", "%s", verdict_remedy(finding->gap));
	if (finding->gap == STALL_GAP_FEW_BATCHES)
		page_entry(page, INDENT, INDENT, "",
			   "%zu steady batch%s were seen; a verdict takes %d.",
			   finding->steady_count, finding->steady_count == 1 ? "" : "es",
			   STALL_FEWEST);
	else if (finding->gap == STALL_GAP_LOSS)
		page_entry(page, INDENT, INDENT, "", "At least %s of them are missing.",
			   units_share(share, finding->lost_share));
	page_break(page);
}

static void print_verdict(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	const struct verdict *verdict = verdict_of(finding->verdict);
	char sentence[VERDICT_SENTENCE], factor[UNITS_MAX], extent[96] = "";

	if (finding->verdict == STALL_VERDICT_INCOMPLETE) {
		print_incomplete(report, page);
		return;
	}
	page_color(page, verdict->tone);
	page_entry(page, INDENT, INDENT + (int)strlen(verdict->words) + 3, verdict->words, "%s",
		   verdict_sentence(sentence, verdict_clock(finding), finding->stall_ratio));
	page_color(page, PAGE_PLAIN);
	if (finding->starved && !isnan(finding->gain_max)) {
		advise_add_extent(report, extent, sizeof(extent));
		page_entry(page, INDENT, INDENT, "",
			   "Fixing input alone would make %s up to %s faster.", extent,
			   units_factor(factor, finding->gain_max));
	}
	advise_cause_text(report, page);
	page_break(page);
}

/* "  wait     ####....   20.1 s   67 %   p50 ...": a label, a bar, a time, a share, and a note. */
static void print_bar(const struct page *page, const char *label, double ns, double whole_ns,
		      enum page_color color, const char *note)
{
	int note_width = page->width >= WIDE ? 28 : 0;
	int cells = page->width - INDENT - LABEL_WIDTH - 1 - TIME_WIDTH - 8 - note_width;
	char time[UNITS_MAX], share[UNITS_MAX];

	fprintf(page->out, "%*s%-*s", INDENT, "", LABEL_WIDTH, label);
	if (isnan(ns)) {
		fputs("not observed\n", page->out);
		return;
	}
	if (cells > 0)
		page_bar(page, cells, whole_ns > 0 ? ns / whole_ns : 0, color);
	fprintf(page->out, " %*s %7s", TIME_WIDTH, units_time(time, ns),
		units_share(share, whole_ns > 0 ? ns / whole_ns : NAN));
	if (note_width && *note)
		fprintf(page->out, "  %s", note);
	fputc('\n', page->out);
}

static void quantile_note(char *note, size_t size, double p50_ns, double p99_ns)
{
	char p50[UNITS_MAX], p99[UNITS_MAX];

	snprintf(note, size, "p50 %-7s  p99 %s", units_time(p50, p50_ns), units_time(p99, p99_ns));
}

static void print_balance(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	double whole_ns = finding->wait_all_ns + finding->compute_all_ns;
	char note[3 * UNITS_MAX];

	if (!report->series.wait_ns && !report->series.compute_ns)
		return;
	quantile_note(note, sizeof(note), finding->wait_p50_ns, finding->wait_p99_ns);
	print_bar(page, "wait", report->series.wait_ns ? finding->wait_all_ns : NAN, whole_ns,
		  PAGE_RED, note);
	quantile_note(note, sizeof(note), finding->compute_p50_ns, finding->compute_p99_ns);
	print_bar(page, "compute", report->series.compute_ns ? finding->compute_all_ns : NAN,
		  whole_ns, PAGE_GREEN, note);
	page_break(page);
}

static void print_wait(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	double whole_ns = finding->wait_all_ns + finding->compute_all_ns;
	int64_t first = stall_start_count(report->series.workers);
	char theta[UNITS_MAX];

	if (!report->series.wait_ns || !(whole_ns > 0))
		return;
	page_line(page,
		  "%*sThe wait, by cause (shares of all time; the verdict leaves out epoch starts)",
		  INDENT, "");
	page_part(page, "starved", finding->wait_starved_ns, whole_ns,
		   "%zu of %zu steady batches waited %s or more", finding->starved_count,
		   finding->steady_count, units_time(theta, finding->theta_ns));
	page_part(page, "epoch start", finding->wait_start_ns, whole_ns,
		   "the first %" PRId64 " batch%s of %s", first, first == 1 ? "" : "es",
		   finding->epoch_count == 1 ? "the epoch" : "each epoch");
	if (finding->readiness_count)
		page_part(page, "ready batches", finding->wait_ready_ns, whole_ns,
			   "handing over what was ready");
	if (finding->wait_short_ns > 0)
		page_part(page, "short waits", finding->wait_short_ns, whole_ns,
			   "too short to matter");
	if (finding->wait_masked_ns > 0)
		page_part(page, "GPU busy", finding->wait_masked_ns, whole_ns,
			  "the host waited, and the GPU had work: no loss");
	if (finding->wait_unseen_ns > 0)
		page_part(page, "GPU not seen", finding->wait_unseen_ns, whole_ns,
			  "not judged: nothing is known of the GPU then");
	if (report->totals.hol_ns > 0)
		page_part(page, "head of line", (double)report->totals.hol_ns, whole_ns,
			   "of the above: a later batch was ready");
	page_break(page);
}

static double mean_of(const struct report *report, int64_t total)
{
	return total == QUERY_UNKNOWN ? NAN : (double)total / (double)report->totals.load_count;
}

static void print_calls(const struct report *report, char *text, size_t size, int64_t count,
			int64_t bytes)
{
	char amount[UNITS_MAX];

	text[0] = '\0';
	if (count == QUERY_UNKNOWN)
		return;
	if (count == 0)
		snprintf(text, size, "no data file was touched");
	else if (bytes == QUERY_UNKNOWN)
		snprintf(text, size, "%.1f calls", mean_of(report, count));
	else
		snprintf(text, size, "%s in %.1f calls",
			 units_bytes(amount, mean_of(report, bytes)), mean_of(report, count));
}

static void print_load(const struct report *report, const struct page *page)
{
	const struct load_totals *totals = &report->totals;
	bool decode_seen = totals->decode_ns != QUERY_UNKNOWN;
	double load_ns;
	char text[128], time[UNITS_MAX], bytes[UNITS_MAX];

	if (totals->load_count == QUERY_UNKNOWN || totals->load_count < 1)
		return;
	load_ns = mean_of(report, totals->load_ns);
	page_line(page, "%*sOne load takes %s on average%s (shares of it)", INDENT, "",
		  units_time(time, load_ns),
		  report->series.workers == 0  ? ", in the main process"
		  : report->series.workers > 0 ? ", in a worker"
					       : "");
	print_calls(report, text, sizeof(text), totals->open_count, QUERY_UNKNOWN);
	page_part(page, "open", mean_of(report, totals->open_ns), load_ns, "%s", text);
	print_calls(report, text, sizeof(text), totals->read_count, totals->read_bytes);
	page_part(page, "read", mean_of(report, totals->read_ns), load_ns, "%s", text);
	page_part(page, "decode", mean_of(report, totals->decode_ns), load_ns, "%s",
		   decode_seen ? "" : "counted as other");
	page_part(page, "collate", mean_of(report, totals->collate_ns), load_ns, "%s", "");
	page_part(page, "other", mean_of(report, totals->other_ns), load_ns, "%s",
		   decode_seen ? "the dataset's own code"
			       : "the dataset's code, decoding included");
	if (totals->blocked_ns != QUERY_UNKNOWN && totals->blocked_ns > totals->load_ns / 100)
		page_part(page, "blocked", mean_of(report, totals->blocked_ns), load_ns,
			   "of other: asleep in locks, queues or sleep()");
	if (totals->cpu_ns != QUERY_UNKNOWN)
		page_part(page, "CPU", mean_of(report, totals->cpu_ns), load_ns,
			   "of the load; the rest it waited, or had no core");
	if (totals->storage_bytes != QUERY_UNKNOWN && totals->storage_bytes > 0)
		page_entry(page, 2 * INDENT, 2 * INDENT + 14, "storage",
			   "%s a batch came from a device, not from memory",
			   units_bytes(bytes, mean_of(report, totals->storage_bytes)));
	if (report->series.workers != 0) {
		page_line(page, "%*sThen, on average", INDENT, "");
		page_part(page, "transfer", mean_of(report, totals->transfer_ns), NAN,
			   "from the worker to the main process");
		page_part(page, "queue", mean_of(report, totals->queue_ns), NAN,
			   "finished, waiting to be asked for");
	}
	page_break(page);
}

static void print_loader(const struct report *report, const struct page *page)
{
	const struct loader_info *loader = report->loader;
	const struct finding *finding = &report->finding;
	char text[512] = "";

	if (!loader)
		return;
	page_append(text, sizeof(text), "%s", loader->kind[0] ? loader->kind : "unknown kind");
	if (loader->workers == QUERY_UNKNOWN)
		page_append(text, sizeof(text), ", workers not observed");
	else
		page_append(text, sizeof(text), ", %" PRId64 " worker%s", loader->workers,
		    plural(loader->workers));
	if (loader->workers != 0) {
		if (loader->prefetch_factor != QUERY_UNKNOWN)
			page_append(text, sizeof(text), ", prefetch_factor %" PRId64,
			    loader->prefetch_factor);
		if (loader->in_order != QUERY_UNKNOWN)
			page_append(text, sizeof(text), ", %s",
			    loader->in_order ? "in order" : "any order");
		if (loader->persistent != QUERY_UNKNOWN)
			page_append(text, sizeof(text), ", %s",
			    loader->persistent ? "persistent" : "new workers every epoch");
	}
	if (loader->batch_size != QUERY_UNKNOWN)
		page_append(text, sizeof(text), ", batch size %" PRId64, loader->batch_size);
	page_item(page, "Loader", "%s", text);

	if (finding->rho > 0 && finding->load_mean_ns > 0) {
		double supply = report->series.workers / finding->load_mean_ns * 1e9;

		page_item(page, "Capacity",
		      "%" PRId32 " workers can load %.3g batches/s; without waiting the training "
		      "would take %.3g",
		      report->series.workers, supply, supply * finding->rho);
	}
	if (advise_others(report))
		page_item(
			page, "Cores",
			"other programs took %.2g of the %.3g cores on average; predictions count "
			"on the rest, and more workers may win some of theirs",
			report->series.other_cores, report->series.cores);
}

static void print_others(const struct report *report, const struct page *page)
{
	const char *label = "Others";
	size_t i;

	for (i = 0; i < report->loader_count; i++) {
		const struct loader_info *loader = &report->loaders[i];
		char batches[UNITS_MAX], time[UNITS_MAX];

		if (loader == report->loader)
			continue;
		page_item(page, label,
			  "loader %" PRId64 ": %s, %s batches, %s (--loader %" PRId64 ")",
			  loader->loader_id, loader->kind[0] ? loader->kind : "unknown kind",
			  units_count(batches, loader->batch_count),
			  units_time(time, (double)loader->time_ns), loader->loader_id);
		label = "";
	}
}

static void print_filter(const struct report *report, const struct page *page)
{
	const struct batch_filter *filter = &report->filter;
	char text[256] = "";

	if (filter->epoch >= 0)
		page_append(text, sizeof(text), " epoch %" PRId64, filter->epoch);
	if (filter->first >= 0 && filter->last >= 0)
		page_append(text, sizeof(text), " batches %" PRId64 " to %" PRId64, filter->first,
		    filter->last);
	else if (filter->first >= 0)
		page_append(text, sizeof(text), " batches from %" PRId64, filter->first);
	else if (filter->last >= 0)
		page_append(text, sizeof(text), " batches up to %" PRId64, filter->last);
	if (text[0])
		page_item(page, "Only", "%s of loader %" PRId64, text + 1, filter->loader_id);
}

static void print_trust(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	char share[UNITS_MAX];

	if (finding->verdict == STALL_VERDICT_INCOMPLETE)
		return;
	if (report->series.workers == 0)
		page_item(page, "Confidence", "%s: %zu steady batches",
		      stall_confidence_id(finding->confidence), finding->steady_count);
	else
		page_item(page, "Confidence",
		      "%s: %zu steady batches; known for %s whether they were ready",
		      stall_confidence_id(finding->confidence), finding->steady_count,
		      units_share(share, (double)finding->readiness_count /
						 (double)finding->steady_count));
}

static void print_row(void *page, const char *label, const char *text)
{
	page_item(page, label, "%s", text);
}

/* Of the library in an item, as in "libjpeg in libgdal.so". */
static size_t library_length(const char *item)
{
	const char *in = strstr(item, " in ");
	size_t length = strcspn(item, ",");

	return in && in < item + length ? (size_t)(in - item) : length;
}

static const char *next_item(const char *item)
{
	item += strcspn(item, ",");
	return *item ? item + 1 : NULL;
}

static void print_missing(const char *list, const struct page *page)
{
	char text[2048] = "";

	for (const char *item = list; item; item = next_item(item))
		page_append(text, sizeof(text), "%s%.*s", item == list ? "" : ", ",
			    (int)strcspn(item, ","), item);
	page_item(page, "Not found", "%s", text);
}

static bool is_same_library(const char *a, const char *b)
{
	size_t length = library_length(a);

	return length == library_length(b) && strncmp(a, b, length) == 0;
}

/* All modules that have a copy of the library of `first`. */
static void add_copies(const char *first, char *text, size_t size)
{
	size_t count = 0;

	page_append(text, size, "%.*s", (int)library_length(first), first);
	for (const char *item = first; item; item = next_item(item)) {
		const char *module = item + library_length(item);

		if (!is_same_library(first, item) || strncmp(module, " in ", 4) != 0)
			continue;
		if (count < MOST_COPIES)
			page_append(text, size, "%s%.*s", count ? ", " : " in ",
				    (int)strcspn(module + 4, ","), module + 4);
		count++;
	}
	if (count > MOST_COPIES)
		page_append(text, size, " and %zu more", count - MOST_COPIES);
}

/* "libjpeg in a,libtiff in a,libjpeg in b" is "libjpeg in a, b; libtiff in a". */
static void print_hidden(const char *list, const struct page *page)
{
	char text[2048] = "";

	for (const char *item = list; item && strlen(text) + 1 < sizeof(text);
	     item = next_item(item)) {
		const char *before = list;

		while (before != item && !is_same_library(before, item))
			before = next_item(before);
		if (before != item)
			continue;
		page_append(text, sizeof(text), "%s", *text ? "; " : "");
		add_copies(item, text, sizeof(text));
	}
	page_item(page, "Not seen",
		  "%s: such decoding counts where a Python call around it is known, else as other",
		  text);
}

static void print_coverage(const struct report *report, const struct page *page)
{
	const struct finding *finding = &report->finding;
	char count[UNITS_MAX], all[UNITS_MAX];
	size_t i;

	if (report->run.lost_count > 0)
		page_item(page, "Lost", "%s records were dropped",
		      units_count(count, report->run.lost_count));
	if (finding->missing_count)
		page_item(page, "Lost", "%s batches were delivered without a record",
		      units_count(count, (int64_t)finding->missing_count));
	if (finding->batch_count && report->totals.load_count >= 0 &&
	    (size_t)report->totals.load_count < finding->batch_count)
		page_item(page, "Not seen", "how %s of %s batches were loaded",
		      units_count(count, (int64_t)finding->batch_count - report->totals.load_count),
		      units_count(all, (int64_t)finding->batch_count));
	if (report->run.patch_missing && report->run.patch_missing[0])
		print_missing(report->run.patch_missing, page);
	if (report->run.decoders_hidden && report->run.decoders_hidden[0])
		print_hidden(report->run.decoders_hidden, page);
	if (report->run.nvtx && strcmp(report->run.nvtx, "recorded") != 0)
		page_item(page, "NVTX", "%s", report->run.nvtx);
	for (i = 0; i < report->note_count && i < MOST_NOTES; i++)
		page_item(page, "Warning", "%s", report->notes[i]);
	if (report->note_count > MOST_NOTES)
		page_item(page, "", "and %zu more in the table `note`",
		      report->note_count - MOST_NOTES);
	if (!finding->batch_count)
		return;
	gpu_coverage(report, print_row, (void *)(uintptr_t)page);
}

static void print_next(const struct report *report, const struct page *page)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./-+=:,@%";
	const char *quote = report->name[strspn(report->name, plain)] ? "'" : "";

	/* A name with a quote in it is beyond this; it is shown, not run. */
	if (report->finding.batch_count)
		page_item(page, "More", "dlprof-report batches %s%s%s", quote, report->name, quote);
	else
		page_item(page, "More", "dlprof-report --json %s%s%s", quote, report->name, quote);
}

void report_text(const struct report *report, const struct page *page)
{
	print_head(report, page);
	print_verdict(report, page);
	print_balance(report, page);
	strip_print(page, &report->series, stall_waits(&report->series, &report->finding));
	advise_pattern_text(report, page);
	print_wait(report, page);
	print_load(report, page);
	inside_text(&report->inside, page);
	gpu_text(report, page);
	advise_next_text(report, page);
	print_loader(report, page);
	print_others(report, page);
	print_filter(report, page);
	print_trust(report, page);
	print_coverage(report, page);
	print_next(report, page);
}

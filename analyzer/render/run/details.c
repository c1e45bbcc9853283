/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/form/units.h"
#include "render/run/code.h"

#define WORTH_SAYING 0.01
#define MOST_NOTES   32
#define MOST_COPIES  4

/* Adds the time of a part and its share, which is rounded as on the screen. */
static void add_part(struct outline *o, const struct account *a, int part, double ns)
{
	outline_cells(o, share_looks[part].label, UNITS_TIME(ns), shares_of(a, part, UNITS_BUFFER),
		      share_looks[part].note);
}

static void add_account(const struct report *report, struct outline *o)
{
	const struct account *a = &report->finding.account;

	outline_table(o, "wait", OUTLINE_PARTS);
	if (!(a->time_ns > 0) || isnan(a->ratio))
		return;
	outline_title(o, "The account of %s of training%s", UNITS_TIME(a->time_ns),
		      report->finding.by_gpu ? "; waiting is what the GPU idled in it" : "");
	outline_part(o, "waiting", a->wait_ns, a->time_ns, "for data, in all");
	for (int part = 0; part < ACCOUNT_PART_MAX; part++)
		if (isnan(a->part_ns[part]) && part != ACCOUNT_SAMPLING)
			outline_part(o, share_looks[part].label, NAN, NAN, "%s", "");
		else if (a->part_ns[part] > 0)
			add_part(o, a, part, a->part_ns[part]);
	add_part(o, a, ACCOUNT_PART_MAX, a->step_ns);
	if (a->startup_ns > 0)
		outline_part(o, "start-up", a->startup_ns, NAN, "%s",
			     a->life_count > 1
				     ? "before the first batches of its programs; in no share"
				     : "before the first batch, once; in no share");
	if (a->unseen_ns > 0)
		outline_part(o, "GPU not seen", a->unseen_ns, NAN,
			     "batches without GPU times; in no share");
}

static void add_quantiles(struct outline *o, const char *label, double p50_ns, double p99_ns)
{
	if (!isnan(p50_ns))
		outline_item(o, label, "%s in the median, %s at 99 %%", UNITS_TIME(p50_ns),
			     UNITS_TIME(p99_ns));
}

static void add_growth(const struct report *report, struct outline *o)
{
	struct text words = TEXT_OF(96);

	if (!report->diagnosis.grounds.step_growth.is_lasting)
		return;
	text_add(&words, "they become longer: ");
	evidence_add_growth(&report->diagnosis.grounds.step_growth, &words);
	outline_item(o, "", "%s", words.words);
}

static void add_own_part(const struct report *report, struct outline *o)
{
	const struct batch_series *s = &report->series;
	const struct series_fetches *fetches = &s->fetches;
	const struct account *a = &report->finding.account;

	if (a->part_ns[ACCOUNT_SAMPLING] > 0 && a->count)
		outline_item(o, "Sampling", "choosing the samples %s a batch",
			     UNITS_TIME(a->part_ns[ACCOUNT_SAMPLING] / (double)a->count));
	if (s->workers == 0 || !(fetches->count > 0))
		return;
	outline_item(o, "Fetching",
		     "asking workers for descriptors: %.1f a batch, %s each, CPU %s",
		     fetches->count / fetches->batches, UNITS_TIME(fetches->ns / fetches->count),
		     UNITS_TIME(fetches->cpu_ns / fetches->count));
}

static void add_waits(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	bool known = f->readiness_count || report->series.workers == 0;
	double time_ns = f->account.time_ns;

	outline_items(o, "wait");
	if (!f->batch_count)
		return;
	if (!report->series.wait_ns)
		outline_item(o, "Waits", "not observed");
	if (!report->series.compute_ns)
		outline_item(o, "Steps", "not observed");
	add_quantiles(o, "Waits", f->wait_p50_ns, f->wait_p99_ns);
	/* If the loop makes an iterator for each batch, most of a step lies between two epochs. */
	if (f->epoch_count == f->batch_count && f->compute_all_ns < f->account.step_ns / 2)
		outline_item(o, "Steps", "%s in the mean, mostly between one iterator and the next",
			     UNITS_TIME(f->account.step_ns / (double)f->batch_count));
	else
		add_quantiles(o, "Steps", f->compute_p50_ns, f->compute_p99_ns);
	add_growth(report, o);
	if (f->steady_count)
		outline_item(o, "Starved",
			     "%zu of %zu steady batches: %swaited for %s or more%s",
			     f->starved_count, f->steady_count, known ? "not ready, and " : "",
			     UNITS_TIME(f->theta_ns),
			     known ? "" : "; whether they were ready is not known");
	add_own_part(report, o);
	/* Head-of-line time that exceeds all waits includes the start-up, which is no wait. */
	if (report->totals.hol_ns > 0 && (double)report->totals.hol_ns <= f->own.wait_ns)
		outline_item(o, "In order",
			     "for %s of the waits (%s of the time) a batch was stuck behind a "
			     "slower one (head of line)",
			     UNITS_TIME((double)report->totals.hol_ns),
			     UNITS_SHARE((double)report->totals.hol_ns / time_ns));
	if (f->wait_masked_ns > 0)
		outline_item(o, "Masked",
			     "the host waited %s while the GPU had work: nothing was lost by that",
			     UNITS_TIME(f->wait_masked_ns));
}

static void add_calls(const struct report *report, char *text, size_t size, int64_t count,
		      int64_t bytes)
{
	text[0] = '\0';
	if (count == UNKNOWN)
		return;
	if (count == 0)
		snprintf(text, size,
			 report->facts.faults > 0 || report->totals.storage_bytes > 0
				 ? "a mapped file was read by page faults"
				 : "no data file was opened");
	else if (bytes == UNKNOWN)
		snprintf(text, size, "%s calls", UNITS_RATE(report_load_mean(report, count)));
	else
		snprintf(text, size, "%s in %s calls",
			 UNITS_BYTES(report_load_mean(report, bytes)),
			 UNITS_RATE(report_load_mean(report, count)));
}

static void add_load(const struct report *report, struct outline *o)
{
	const struct load_totals *totals = &report->totals;
	const bool decode_seen = totals->decode_ns != UNKNOWN;
	const bool may_decode = report->run.decoders_hidden && report->run.decoders_hidden[0];
	double load_ns;
	char text[128] = "";

	outline_table(o, "life", OUTLINE_PARTS);
	if (totals->load_count == UNKNOWN || totals->load_count < 1)
		return;
	load_ns = report_load_mean(report, totals->load_ns);
	/* Rates and predictions use the mean of steady batches: show it, too, if it differs. */
	if (strcmp(UNITS_TIME(load_ns), UNITS_TIME(report->finding.load_mean_ns)) != 0)
		snprintf(text, sizeof(text), ", %s in steady batches",
			 UNITS_TIME(report->finding.load_mean_ns));
	outline_title(o, "One load takes %s on average%s%s (shares of it)", UNITS_TIME(load_ns),
		      report->finding.load_mean_ns > 0 ? text : "",
		      report->series.workers == 0  ? ", in the main process"
		      : report->series.workers > 0 ? ", in a worker"
						   : "");
	add_calls(report, text, sizeof(text), totals->open_count, UNKNOWN);
	outline_part(o, "open", report_load_mean(report, totals->open_ns), load_ns, "%s", text);
	add_calls(report, text, sizeof(text), totals->read_count, totals->read_bytes);
	outline_part(o, "read", report_load_mean(report, totals->read_ns), load_ns, "%s", text);
	outline_part(o, "decode", report_load_mean(report, totals->decode_ns), load_ns, "%s",
		     totals->decode_ns > 0 ? ""
		     : decode_seen         ? "no decoder whose calls can be timed was called"
					   : "counted as other");
	outline_part(o, "collate", report_load_mean(report, totals->collate_ns), load_ns, "%s", "");
	outline_part(o, "other", report_load_mean(report, totals->other_ns), load_ns, "%s",
		     !decode_seen ? "the dataset's code, decoding included"
		     : totals->decode_ns == 0 && may_decode
			     ? "the dataset's code, and decoders that cannot be timed"
			     : "the dataset's own code");
	if (totals->blocked_ns != UNKNOWN &&
	    (double)totals->blocked_ns > WORTH_SAYING * (double)totals->load_ns)
		outline_part(o, "blocked", report_load_mean(report, totals->blocked_ns), load_ns,
			     "of other: in sleep(), locks, pipes, sockets");
	if (totals->cpu_ns != UNKNOWN)
		outline_part(o, "CPU", report_load_mean(report, totals->cpu_ns), load_ns,
			     report->series.worker_threads >= 1
				     ? "of the load, in the thread that loads; others ran, too"
				     : "of the load; the rest it waited, or had no core");
	if (report->series.workers != 0) {
		outline_part(o, "hand-over", report_load_mean(report, totals->transfer_ns), NAN,
			     "then: from the worker to the main process");
		outline_part(o, "in queue", report_load_mean(report, totals->queue_ns), NAN,
			     "then: finished, waiting to be asked for");
	}
	if (totals->storage_bytes != UNKNOWN && totals->storage_bytes > 0) {
		outline_items(o, "life");
		outline_item(o, "Storage", "%s a batch came from a device, not from memory",
			     UNITS_BYTES(report_load_mean(report, totals->storage_bytes)));
	}
}

static void add_settings(const struct loader_info *loader, struct text *text)
{
	text_add(text, "%s", loader->kind[0] ? loader->kind : "unknown kind");
	if (loader->place[0])
		text_add(text, ", made at %s", loader->place);
	if (loader->workers == UNKNOWN)
		text_add(text, ", workers not observed");
	else
		text_add(text, ", %" PRId64 " worker%s", loader->workers,
			 loader->workers == 1 ? "" : "s");
	if (loader->workers != 0) {
		if (loader->prefetch_factor != UNKNOWN)
			text_add(text, ", %s %" PRId64, dialect_of(loader)->prefetch_each,
				 loader->prefetch_factor);
		if (loader->in_order != UNKNOWN)
			text_add(text, ", %s", loader->in_order ? "in order" : "any order");
		if (loader->persistent != UNKNOWN)
			text_add(text, ", %s",
				 loader->persistent ? "persistent" : "new workers every epoch");
	}
	if (loader->batch_size != UNKNOWN)
		text_add(text, ", batch size %" PRId64, loader->batch_size);
}

static void add_loaders(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;
	struct text text = TEXT_OF(512);

	outline_items(o, "loader");
	if (!report->loader)
		return;
	*text.words = '\0';
	add_settings(report->loader, &text);
	outline_item(o, "Loader", "%s", text.words);
	if (f->rho > 0 && f->load_mean_ns > 0) {
		int32_t workers = series_busy_workers(&report->series);
		double supply = workers / f->load_mean_ns * 1e9;

		outline_item(o, "Capacity",
			     "%" PRId32
			     " worker%s%s can load %s batches/s; without waiting %s would take %s",
			     workers, workers == 1 ? "" : "s",
			     series_has_idle_workers(&report->series) ? " (the others got no data)"
								      : "",
			     UNITS_RATE(supply), evidence_taker(report),
			     UNITS_RATE(supply * f->rho));
	}
	facts_outline_processes(report, o);
	for (size_t i = 0; i < report->loader_count; i++) {
		const struct loader_info *loader = &report->loaders[i];

		if (loader == report->loader)
			continue;
		*text.words = '\0';
		add_settings(loader, &text);
		outline_item(o, "Other",
			     "loader %" PRId64 ": %s, %s batches in %s%s (--loader %" PRId64 ")",
			     loader->loader_id, text.words, UNITS_COUNT(loader->batch_count),
			     UNITS_TIME((double)loader->time_ns),
			     loader->nested ? ", within another loader's waits" : "",
			     loader->loader_id);
	}
}

static void add_trust(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;

	if (!stall_is_judged(f->verdict))
		return;
	if (report->series.workers != 0 && f->steady_count)
		outline_item(
			o, "Readiness",
			"for %s of the steady batches it is known whether they were ready",
			UNITS_SHARE((double)f->readiness_count / (double)f->steady_count));
	if (!isnan(report->diagnosis.boot.low95))
		outline_item(o, "Interval",
			     "%s to %s (95 %%) as this run's batches vary; a rerun may differ more",
			     UNITS_SHARE(report->diagnosis.boot.low95),
			     UNITS_SHARE(report->diagnosis.boot.high95));
}

/* Returns the length of the library's name, such as "libjpeg" in "libjpeg in libgdal.so". */
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

static void add_missing(const char *list, struct outline *o)
{
	struct text text = TEXT_OF(2048);

	for (const char *item = list; item; item = next_item(item))
		text_add(&text, "%s%.*s", item == list ? "" : ", ", (int)strcspn(item, ","), item);
	outline_item(o, "Not found", "%s", text.words);
}

static bool is_same_library(const char *a, const char *b)
{
	size_t length = library_length(a);

	return length == library_length(b) && strncmp(a, b, length) == 0;
}

static void add_copies(const char *first, struct text *text)
{
	size_t count = 0;

	text_add(text, "%.*s", (int)library_length(first), first);
	for (const char *item = first; item; item = next_item(item)) {
		const char *module = item + library_length(item);

		if (!is_same_library(first, item) || strncmp(module, " in ", 4) != 0)
			continue;
		if (count < MOST_COPIES)
			text_add(text, "%s%.*s", count ? ", " : " in ",
				 (int)strcspn(module + 4, ","), module + 4);
		count++;
	}
	if (count > MOST_COPIES)
		text_add(text, " and %zu more", count - MOST_COPIES);
}

/* Writes "libjpeg in a,libtiff in a,libjpeg in b" as "libjpeg in a, b; libtiff in a". */
static void add_hidden(const char *list, struct outline *o)
{
	struct text text = TEXT_OF(2048);

	for (const char *item = list; item && strlen(text.words) + 1 < text.size;
	     item = next_item(item)) {
		const char *before = list;

		while (before != item && !is_same_library(before, item))
			before = next_item(before);
		if (before != item)
			continue;
		text_add(&text, "%s", *text.words ? "; " : "");
		add_copies(item, &text);
	}
	outline_item(
		o, "Not seen",
		"%s: their decoding is timed by the Python call around it, or else counts as other",
		text.words);
}

static void add_seen(const struct report *report, struct outline *o)
{
	const struct load_totals *totals = &report->totals;
	struct text text = TEXT_OF(256);

	if (totals->load_count > 0)
		text_add(&text, "how %s of %s batches were loaded; ",
			 UNITS_COUNT(totals->load_count),
			 UNITS_COUNT((int64_t)report->finding.batch_count));
	if (totals->open_count > 0)
		text_add(&text, "%s opens of files; ", UNITS_COUNT(totals->open_count));
	if (totals->read_count > 0)
		text_add(&text, "%s reads of files; ", UNITS_COUNT(totals->read_count));
	if (totals->open_count == 0 && totals->read_count == 0)
		text_add(&text, "no load opened or read a file%s; ",
			 totals->storage_bytes > 0 ? ", but mapped files were read" : "");
	if (totals->decode_ns > 0)
		text_add(&text, "decoding; ");
	if (report->samples.stack_count)
		text_add(&text, "lines of code; ");
	if (*text.words)
		outline_item(o, "Seen", "%.*s", (int)strlen(text.words) - 2, text.words);
}

static void add_coverage(const struct report *report, struct outline *o)
{
	const struct finding *f = &report->finding;

	outline_items(o, "coverage");
	add_seen(report, o);
	add_trust(report, o);
	if (f->batch_count)
		gpu_outline_coverage(report, o);
	if (report->run.lost_count > 0)
		outline_item(o, "Lost", "%s records were dropped",
			     UNITS_COUNT(report->run.lost_count));
	if (f->missing_count)
		outline_item(o, "Lost", "%s batches were delivered without a record",
			     UNITS_COUNT((int64_t)f->missing_count));
	if (f->batch_count && report->totals.load_count >= 0 &&
	    (size_t)report->totals.load_count < f->batch_count)
		outline_item(o, "Not seen", "how %s of %s batches were loaded",
			     UNITS_COUNT((int64_t)f->batch_count - report->totals.load_count),
			     UNITS_COUNT((int64_t)f->batch_count));
	if (report->totals.load_count > 0 && report->totals.decode_ns == UNKNOWN)
		outline_item(o, "Not seen", "decoding: it counts as the dataset's code");
	if (report->run.patch_missing && report->run.patch_missing[0])
		add_missing(report->run.patch_missing, o);
	if (report->run.decoders_hidden && report->run.decoders_hidden[0])
		add_hidden(report->run.decoders_hidden, o);
	if (report->run.nvtx && strcmp(report->run.nvtx, "recorded") != 0)
		outline_item(o, "NVTX", "%s", report->run.nvtx);
	for (size_t i = 0; i < report->note_count && i < MOST_NOTES; i++)
		outline_item(o, "Warning", "%s", report->notes[i]);
	if (report->note_count > MOST_NOTES)
		outline_item(o, "", "and %zu more in the table `note`",
			     report->note_count - MOST_NOTES);
}

static void add_named(struct outline *o, const char *label, const char *text)
{
	if (text && *text)
		outline_item(o, label, "%s", text);
}

static void add_place(const struct report *report, struct outline *o)
{
	const struct run_info *run = &report->run;
	const double cores_there = report->diagnosis.grounds.cores_there;

	outline_items(o, "place");
	add_named(o, "Command", run->command);
	add_named(o, "Begun", UNITS_DATE(run->start_unix_ns, "%Y-%m-%d %H:%M:%S UTC"));
	add_named(o, "Host", run->host);
	add_named(o, "Kernel", run->kernel);
	if (run->cpus > 0 && cores_there > (double)run->cpus)
		outline_item(o, "Cores", "%" PRId64 " of %.3g, which the process may use",
			     run->cpus, cores_there);
	else if (run->cpus > 0)
		outline_item(o, "Cores", "%" PRId64, run->cpus);
	add_named(o, "Frameworks", run->frameworks);
	outline_item(o, "Rank", "%" PRId64, run->rank);
	outline_item(o, "Processes", "%" PRId64, run->process_count);
	add_named(o, "Run", run->id);
	outline_item(o, "Recorded by", "dlprof %s", run->version ? run->version : "?");
}

void details_outline(const struct report *report, struct outline *o)
{
	add_account(report, o);
	step_outline(report, o);
	add_waits(report, o);
	add_load(report, o);
	facts_outline_load(report, o);
	inside_outline(&report->inside, o);
	stages_outline(report, o);
	code_outline(report, o);
	gpu_outline(report, o);
	advise_patterns(report, o);
	advise_predictions(report, o);
	add_loaders(report, o);
	add_coverage(report, o);
	add_place(report, o);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the data that a report shows about a run, and functions for each form of its output.
 *
 * Nothing is decided here. The functions write to a stream, which the caller checks for errors.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/lines.h"
#include "render/form/page.h"
#include "store/run/batch.h"
#include "store/run/gpu.h"
#include "store/run/gpu_device.h"
#include "store/run/tally.h"

struct doing; /* defined in store/run/lines.h */

#define INSIDE_MOST_SLOW 8 /* largest number of calls, files, folders or samples shown */

/* Facts about all loads of the run, even if only a part of it is judged. */
struct inside {
	struct tally_loads loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* no unlisted file took longer than this */
	int64_t unlisted_folder_ns;
};

struct report {
	const char *path;
	const char *name;           /* name of the database, as printed */
	bool live;                  /* the run is still recording */
	int64_t missing_count;      /* records of which the drain could not make rows */
	struct batch_filter filter; /* the part of the run that is judged */
	struct run_info run;
	struct loader_info *loaders; /* loaders with the most time first */
	size_t loader_count;
	const struct loader_info *loader; /* the judged one of `loaders`; NULL: the run has none */
	struct batch_series series;
	struct finding finding;
	struct step_parts step; /* what the thread did in its steps */
	struct diagnosis diagnosis;
	struct load_totals totals;
	struct inside inside;
	struct load_facts facts;
	struct stages stages; /* stages of the judged loader's pipeline */
	struct gpu_info gpu; /* GPUs of the whole run */
	struct gpu_sums gpu_sums;
	struct gpu_call_sums gpu_calls;
	struct gpu_use gpu_use;
	struct gpu_device_list gpu_devices;
	struct line_samples samples; /* all stack samples of the run */
	struct lines lines;          /* lines of code of the judged loader with the most time */
	struct doing *stuck;         /* processes that have been at one place for long */
	size_t stuck_count;
	char **notes;
	size_t note_count;
	char **set_done; /* changes by --set, one for each loader: "train.py:16: workers 1 -> 4" */
	size_t set_count;
};

/*
 * Returns the time from the run's begin to the end of its main process, or of the training if
 * another process trains; NAN if it is not known. Other processes may go on for longer, and an end
 * may be noticed late.
 */
static inline double report_duration_ns(const struct report *report)
{
	const struct run_info *run = &report->run;
	const int64_t main_ns = run->main_end_ns, last_ns = report->series.last_ns;
	int64_t end_ns = main_ns != UNKNOWN && last_ns <= main_ns ? main_ns : run->end_ns;
	double ns;

	/* If the main process and the drain were killed, the recorded end is when that was
	 * noticed. */
	if (run->is_gone && main_ns == UNKNOWN && last_ns != UNKNOWN)
		end_ns = last_ns;
	ns = query_known(end_ns) - query_known(run->start_ns);
	return ns >= 0 ? ns : NAN;
}

/* Returns a load's mean, given a sum over all loads, or NAN if it was not observed. */
static inline double report_load_mean(const struct report *report, int64_t total)
{
	return report->totals.load_count < 1
		       ? NAN
		       : query_known(total) / (double)report->totals.load_count;
}

static inline bool report_has_gpu(const struct report *report)
{
	return report->gpu.mode || report->gpu_use.is_known;
}

/* Prints the screen for people and, if `all`, everything (text.c). Returns 0 or -ENOMEM. */
int report_text(const struct report *report, bool all, const struct page *page);

/* Prints only why the run waits and what to do. Returns 0 or -ENOMEM. */
int report_why(const struct report *report, const struct page *page);

/* Prints only what was observed of the run, and what was not. Returns 0 or -ENOMEM. */
int report_coverage(const struct report *report, const struct page *page);

/* Prints the whole report as Markdown, for an issue or the page of a CI job. */
int report_markdown(const struct report *report, bool all, FILE *out);

/* Prints the report as JSON `dlprof.report/3` (json.c). */
void report_json(const struct report *report, FILE *out);

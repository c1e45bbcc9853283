/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - all that a report shows of one run, and the forms it is shown in.
 *
 * These functions decide nothing. They write to a stream whose errors the caller checks.
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
#include "render/run/inside.h"
#include "store/run/batch.h"
#include "store/run/gpu.h"
#include "store/run/gpu_device.h"

struct doing; /* store/run/lines.h */

struct report {
	const char *path;
	const char *name;           /* as it is called in what is shown */
	bool live;                  /* the run still records */
	int64_t missing_count;      /* records that could not be folded in */
	struct batch_filter filter; /* what of it was judged */
	struct run_info run;
	struct loader_info *loaders; /* the one with most time first */
	size_t loader_count;
	const struct loader_info *loader; /* the one that is judged; NULL: the run has none */
	struct batch_series series;
	struct finding finding;
	struct step_parts step; /* what the thread does in its steps */
	struct diagnosis diagnosis;
	struct load_totals totals;
	struct inside inside;
	struct load_facts facts;
	struct stages stages; /* of the judged loader */
	struct gpu_info gpu; /* of the whole run */
	struct gpu_sums gpu_sums;
	struct gpu_call_sums gpu_calls;
	struct gpu_use gpu_use;
	struct gpu_device_list gpu_devices;
	struct line_samples samples; /* of lines of code, of the whole run */
	struct lines lines;          /* ... and what they say of the judged loader */
	struct doing *stuck;         /* processes that have been at one place for long */
	size_t stuck_count;
	char **notes;
	size_t note_count;
	char **set_done; /* what --set changed: "train.py:16: workers 1 -> 4", for each loader */
	size_t set_count;
};

/*
 * From the beginning of the run to the end of its main process: others may go on for long, or
 * notice late that it was killed. To theirs if they train. NAN: not known.
 */
static inline double report_duration_ns(const struct report *report)
{
	const struct run_info *run = &report->run;
	const int64_t main_ns = run->main_end_ns, last_ns = report->series.last_ns;
	int64_t end_ns = main_ns != QUERY_UNKNOWN && last_ns <= main_ns ? main_ns : run->end_ns;
	double ns;

	/* Killed together with its drain: the run's end is when somebody came to look. */
	if (run->is_gone && main_ns == QUERY_UNKNOWN && last_ns != SERIES_UNKNOWN)
		end_ns = last_ns;
	ns = query_known(end_ns) - query_known(run->start_ns);
	return ns >= 0 ? ns : NAN;
}

/* Of a sum over all loads, the mean of one; NAN: not observed. */
static inline double report_load_mean(const struct report *report, int64_t total)
{
	return report->totals.load_count < 1
		       ? NAN
		       : query_known(total) / (double)report->totals.load_count;
}

/* text.c: for people. One screen, or all there is to say. 0 or -ENOMEM. */
int report_text(const struct report *report, bool all, const struct page *page);

/* Of its screen only why the run waits and what to do. 0 or -ENOMEM. */
int report_why(const struct report *report, const struct page *page);

/* Only what was seen of the run, and what was not. 0 or -ENOMEM. */
int report_coverage(const struct report *report, const struct page *page);

/* The whole report as Markdown, for an issue or a job's page. */
int report_markdown(const struct report *report, bool all, FILE *out);

/* json.c: for programs, `dlprof.report/3`. */
void report_json(const struct report *report, FILE *out);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - all that a report shows about one run, and its forms.
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
	const char *name;           /* its name in the output */
	bool live;                  /* the run still records */
	int64_t missing_count;      /* records that could not be folded in */
	struct batch_filter filter; /* the judged part of the run */
	struct run_info run;
	struct loader_info *loaders; /* most time first */
	size_t loader_count;
	const struct loader_info *loader; /* judged loader; NULL: the run has none */
	struct batch_series series;
	struct finding finding;
	struct step_parts step; /* work of the thread in its steps */
	struct diagnosis diagnosis;
	struct load_totals totals;
	struct inside inside;
	struct load_facts facts;
	struct stages stages; /* stages of the judged loader */
	struct gpu_info gpu; /* GPUs of the whole run */
	struct gpu_sums gpu_sums;
	struct gpu_call_sums gpu_calls;
	struct gpu_use gpu_use;
	struct gpu_device_list gpu_devices;
	struct line_samples samples; /* lines of code, of the whole run */
	struct lines lines;          /* lines that lead in the judged loader */
	struct doing *stuck;         /* processes that stay at one place */
	size_t stuck_count;
	char **notes;
	size_t note_count;
	char **set_done; /* changes by --set, as "train.py:16: workers 1 -> 4", for each loader */
	size_t set_count;
};

/*
 * The time from the run's begin to the end of its main process; or to the end of other processes,
 * if they train. Others may go on for long, or see late that it was killed. NAN: not known.
 */
static inline double report_duration_ns(const struct report *report)
{
	const struct run_info *run = &report->run;
	const int64_t main_ns = run->main_end_ns, last_ns = report->series.last_ns;
	int64_t end_ns = main_ns != UNKNOWN && last_ns <= main_ns ? main_ns : run->end_ns;
	double ns;

	/* If it was killed with its drain, the recorded end is when somebody looked. */
	if (run->is_gone && main_ns == UNKNOWN && last_ns != UNKNOWN)
		end_ns = last_ns;
	ns = query_known(end_ns) - query_known(run->start_ns);
	return ns >= 0 ? ns : NAN;
}

/* The mean of a load, from a sum over all loads; NAN: not observed. */
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

/* text.c: prints one screen for people, or all there is to say. 0 or -ENOMEM. */
int report_text(const struct report *report, bool all, const struct page *page);

/* Prints only why the run waits and what to do. 0 or -ENOMEM. */
int report_why(const struct report *report, const struct page *page);

/* Prints only what was seen of the run, and what was not. 0 or -ENOMEM. */
int report_coverage(const struct report *report, const struct page *page);

/* Prints the whole report as Markdown, for an issue or a job's page. */
int report_markdown(const struct report *report, bool all, FILE *out);

/* json.c: prints `dlprof.report/3` for programs. */
void report_json(const struct report *report, FILE *out);

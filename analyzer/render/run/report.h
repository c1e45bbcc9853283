/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the data that a report shows about a run; callers check streams for errors. */
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
#include "store/run/tally.h"

struct doing; /* defined in store/run/lines.h */

#define INSIDE_MOST_SLOW 8

/* What happened inside the run's loads. All loads count, even if a part of the run is judged. */
struct inside {
	struct load_totals loads;
	struct tally_list steps, decoders, samples, files, folders;
	struct slow_call *slow;
	size_t slow_count;
	int64_t unlisted_file_ns;	/* each file that is not listed took at most this time */
	int64_t unlisted_folder_ns;
};

/* What code_place() needs to know of all files with lines of code; see code_find_names(). */
struct code_names {
	const char *root; /* path of the program's folder; NULL: unknown */
	size_t root_length;
	const char **files; /* sorted by the ends of paths, so that equal ends are neighbours */
	size_t file_count;
};

struct report {
	const char *path;
	const char *name;           /* name of the run as it is printed */
	bool live;
	int64_t missing_count;      /* records that the drain could not turn into rows */
	struct batch_filter filter;
	struct run_info run;
	struct loader_info *loaders; /* the loader with the most time comes first */
	size_t loader_count;
	const struct loader_info *loader; /* the judged one of `loaders`; NULL: the run has none */
	const struct loader_info *inner;  /* takes most of the waits for `loader`; NULL: none */
	struct batch_series series;
	struct finding finding;
	struct step_parts step;
	struct diagnosis diagnosis;
	struct load_totals totals;
	struct inside inside;
	struct load_facts facts;
	struct stages stages; /* of the judged loader only */
	struct gpu_info gpu; /* of the whole run, even if a part of it is judged */
	struct gpu_sums gpu_sums;
	struct gpu_call_sums gpu_calls;
	struct gpu_use gpu_use;
	struct gpu_device_list gpu_devices;
	struct line_samples samples; /* of the whole run */
	struct code_names names;
	struct lines lines;          /* code in which the judged loader's time went */
	struct doing *stuck;
	size_t stuck_count;
	char **notes;
	size_t note_count;
	char **set_done; /* changes by --set, one for each loader: "train.py:16: workers 1 -> 4" */
	size_t set_count;
};

/*
 * Returns the time from the run's start to the end of its main process. The end of the run counts
 * instead if the process's end is unknown, or a batch came later. NAN: unknown.
 */
static inline double report_duration_ns(const struct report *report)
{
	const struct run_info *run = &report->run;
	const int64_t main_ns = run->main_end_ns, last_ns = report->series.last_ns;
	int64_t end_ns = main_ns != UNKNOWN && last_ns <= main_ns ? main_ns : run->end_ns;
	double ns;

	/* If all processes were killed, the recorded end is too late: when the drain noticed. */
	if (run->is_gone && main_ns == UNKNOWN && last_ns != UNKNOWN)
		end_ns = last_ns;
	ns = query_known(end_ns) - query_known(run->start_ns);
	return ns >= 0 ? ns : NAN;
}

/* Returns `total` / number of loads; NAN: the total was not observed. */
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

/* Write the report, its screen or a chapter in one form. They return 0 or -ENOMEM. */
int report_text(const struct report *report, bool all, const struct page *page);

int report_why(const struct report *report, const struct page *page);

int report_coverage(const struct report *report, const struct page *page);

int report_markdown(const struct report *report, bool all, FILE *out);

void report_json(const struct report *report, FILE *out);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merger.h - gathers runs and partials of each job, and merges them, one job after the other: runs
 * into a partial, partials into a larger one.
 */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole;  /* the job with its windows; whoever keeps it calls part_init() on it */
	struct rank_files runs; /* the runs that the job consists of, if any */
	const char *partial;    /* a partial that the job contains; NULL: only runs */
	bool is_only;
	bool failed; /* the job cannot be read; the next one may still be */
};

/*
 * Calls `each` for every job that `options` name, until a call returns other than 0. Prints which
 * jobs cannot be folded. Returns 0, CMD_ERROR, or the result of `each`.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* Judges a job for printing. *ret refers to `whole`. Call cmd_ranks_free() even after an error. */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

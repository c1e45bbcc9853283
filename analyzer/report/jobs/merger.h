/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merger.h - gathers runs and partials into jobs: each job with all its ranks, one job after the
 * other. Runs become a partial, partials a larger one.
 */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole;  /* the job with its windows; whoever takes it calls part_init() on it */
	struct rank_files runs; /* the runs that the job is made of, if any */
	const char *partial;    /* a partial that the job is made of; NULL: only runs */
	bool is_only;
	bool failed; /* the job cannot be read, but the next one can */
};

/*
 * Calls `each` for every job that `options` name, until a call does not return 0; prints which jobs
 * cannot be folded. Returns 0, CMD_ERROR or the result of `each`.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* Judges a job to show; *ret uses `whole`. Call cmd_ranks_free() also on error. 0 or -ENOMEM. */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

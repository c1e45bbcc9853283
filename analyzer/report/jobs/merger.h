/* SPDX-License-Identifier: Apache-2.0 */
/* merger.h - merges the runs and partials (fold's files) of each job, job by job. */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole; /* the job with its windows; a callee that keeps it calls part_init() */
	struct rank_files runs;
	const char *partial;    /* one of the job's files made by fold; NULL: all are runs */
	bool is_only;
	bool failed; /* this job cannot be folded, but the next may be */
};

/*
 * Merges one job after the other, and calls `each` for it, until a call returns other than 0.
 * Prints which jobs cannot be folded. Returns 0, CMD_ERROR, or the result of the last call.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* Judges a job. *ret points into `whole`. Returns 0 or -errno; always call cmd_ranks_free(). */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

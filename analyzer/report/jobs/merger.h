/* SPDX-License-Identifier: Apache-2.0 */
/* merger.h - merges the runs and partials of each job, one job after the other. */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole; /* the job, with windows; who copies it calls part_init() on this */
	struct rank_files runs;
	const char *partial;    /* path of a partial of the job; NULL: there are only runs */
	bool is_only;
	bool failed; /* this job cannot be folded; the next jobs may be */
};

/*
 * Merges job by job, and calls `each` for each job until a call returns other than 0. Prints which
 * jobs cannot be folded. Returns 0, CMD_ERROR, or that result.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* Judges a job. *ret points into `whole`. 0 or -errno; call cmd_ranks_free() in both cases. */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

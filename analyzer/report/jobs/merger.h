/* SPDX-License-Identifier: Apache-2.0 */
/* merger.h - merges the runs and partials of each job, one job after the other. */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole;  /* the job with its windows; whoever keeps it calls part_init() on it */
	struct rank_files runs;
	const char *partial;    /* NULL: only runs */
	bool is_only;
	bool failed; /* the next job may still be read */
};

/*
 * Ends when a call returns other than 0. Prints which jobs cannot be folded. Returns 0, CMD_ERROR,
 * or that result.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* *ret refers to `whole`. Call cmd_ranks_free() even after an error. */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merger.h - gather runs and partials into jobs: each job with all its ranks, one job after the
 * other. Runs become a partial, partials a larger one.
 */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole;      /* with its windows; whoever takes it leaves part_init() */
	struct rank_files runs; /* the runs it came from, if any */
	const char *partial;    /* a partial it came from; NULL: only runs */
	bool is_only;
	bool failed; /* it cannot be read, but the next job can */
};

/*
 * Calls `each` for every job that `options` name, until one call returns non-zero; prints which
 * jobs cannot be folded. 0, CMD_ERROR or the result of `each`.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* Judges a job to show while `whole` lives. cmd_ranks_free() also after an error. 0 or -ENOMEM. */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

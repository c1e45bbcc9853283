/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merger.h - runs and partials, in any mixture, as the jobs that they are parts of: each job with
 * all its ranks, one after the other. Runs become a partial, partials a larger one.
 */
#pragma once

#include "render/jobs/ranks.h"
#include "report/ranks.h"
#include "store/fleet/part.h"

struct merger_job {
	struct part whole;      /* with its windows; who takes it leaves part_init() */
	struct rank_files runs; /* those that it is of, if any */
	const char *partial;    /* one that it is of; NULL: it is of runs alone */
	bool is_only;
	bool failed; /* it could not be read, and the next one can */
};

/*
 * Calls `each` for every job of what `options` name, until one is not 0; of jobs that cannot be
 * folded says so. 0, CMD_ERROR or what `each` returned.
 */
int merger_jobs(const struct options *options,
		int (*each)(const struct options *options, struct merger_job *job, void *context),
		void *context);

/* As it is shown, while `whole` lives. cmd_ranks_free() also after an error. 0 or -ENOMEM. */
int merger_judge(const struct options *options, struct part *whole, struct ranks *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_fold.c - `dlprof-report fold FOLDER|PART... [-o N.part]`: sums up ranks of a job in a
 * partial, for jobs with more ranks than one machine can read.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/statistics/array.h"
#include "report/jobs/merger.h"
#include "store/database/redact.h"

struct shown {
	struct jobs jobs;
	struct part *wholes;
};

static int write_whole(const struct options *options, struct merger_job *job, void *context)
{
	struct output output;
	int status, r;

	if (!job->is_only)
		return cmd_fail("a partial holds one job, and these runs are of several; --job ID "
				"chooses one");
	status = cmd_open_output(options, &output);
	if (status)
		return status;
	r = part_write(&job->whole, output.file);
	return cmd_close_output(&output, r < 0 ? cmd_fail("%s", db_error(r)) : CMD_DONE);
}

static int add_job(const struct options *options, struct merger_job *job, void *context)
{
	struct shown *shown = context;
	struct jobs *jobs = &shown->jobs;
	struct part *whole;
	int r;

	if (!ARRAY_GROW(jobs->list, jobs->count) || !ARRAY_GROW(shown->wholes, jobs->count))
		return cmd_fail("%s", db_error(-ENOMEM));
	whole = &shown->wholes[jobs->count];
	*whole = job->whole;
	part_init(&job->whole);
	r = merger_judge(options, whole, &jobs->list[jobs->count]);
	rank_free_windows(&whole->job);
	jobs->count++;
	return r < 0 ? cmd_fail("%s", db_error(r)) : 0;
}

static int show(const struct options *options, struct jobs *jobs)
{
	char command[PATH_MAX + 10];

	/* The list of jobs then ends in "More: dlprof-report --job ID fold FOLDER". */
	snprintf(command, sizeof(command), "fold %s", jobs->path);
	if (!options->json && jobs->count > 1)
		jobs->path = command;
	return cmd_show_jobs(options, jobs);
}

int cmd_fold(const struct options *options)
{
	struct shown shown = {.jobs.path = redact(REDACT_RUN, options->run)};
	int status = merger_jobs(options, options->output ? write_whole : add_job, &shown);

	if (!status && !options->output)
		status = show(options, &shown.jobs);
	for (size_t i = 0; i < shown.jobs.count; i++) {
		cmd_ranks_free(&shown.jobs.list[i]);
		part_done(&shown.wholes[i]);
	}
	free(shown.jobs.list);
	free(shown.wholes);
	return status;
}

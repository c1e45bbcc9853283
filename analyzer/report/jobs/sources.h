/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - where the ranks of jobs are: partials of `dlprof-report fold`, and runs. The runs of
 * a job are read as if they were a partial. Functions print what went wrong: 0 or CMD_ERROR.
 */
#pragma once

#include "report/ranks.h"
#include "store/fleet/part.h"

struct source {
	char *path; /* of a partial; NULL: of the runs that were named, and all of a job's are here
		     */
	struct rank_files runs;
	char *job; /* NULL: not known */
	int64_t attempt;
	struct part part; /* empty until source_load() */
};

struct sources {
	struct source *list; /* of one job after the other */
	size_t count;
	struct rank_files files; /* all runs */
};

/* sources_done() also after an error. */
int sources_list(const struct options *options, struct sources *ret);
void sources_done(struct sources *sources);

/* Behind the last one of the job and attempt that `begin` is of. */
size_t sources_job_end(const struct sources *sources, size_t begin);

/* Of a partial without its windows. */
int source_load(const struct options *options, struct source *source);

/* As messages call it. */
const char *source_name(const struct source *source);

/* A partial cannot be read. */
int sources_fail(const char *path, int error);

/* What texts a part has of a rank, or of its job, from others. 0 or -ENOMEM. */
int sources_add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		      const char *gpu, const char *ended);
int sources_add_words(struct part *part, const char *const words[PART_WORDS]);

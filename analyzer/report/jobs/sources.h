/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - lists the sources of jobs' ranks: files of `fold -o` (partials), and runs, which
 * become partials in memory. Functions print what went wrong, and return 0 or CMD_ERROR.
 */
#pragma once

#include "report/ranks.h"
#include "store/fleet/part.h"

struct source {
	char *path; /* path of a partial; NULL: the source is `runs`, all runs of a job */
	struct rank_files runs;
	char *job; /* NULL: unknown */
	int64_t attempt;
	struct part part; /* empty until source_load() fills it */
};

struct sources {
	struct source *list;
	size_t count;
	struct rank_files files;
};

/* Lists the sources, sorted by job and attempt. Call sources_done() also after an error. */
int sources_list(const struct options *options, struct sources *ret);
void sources_done(struct sources *sources);

size_t sources_job_end(const struct sources *sources, size_t begin);

/* Fills source->part from the runs or the partial. A partial's windows are left out. */
int source_load(const struct options *options, struct source *source);

const char *source_name(const struct source *source);

int sources_fail(const char *path, int error);

/* Add texts about a rank, or about the job, to a part. They return 0 or -ENOMEM. */
int sources_add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		      const char *gpu, const char *ended);
int sources_add_words(struct part *part, const char *const words[PART_WORDS]);

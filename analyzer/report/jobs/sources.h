/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - lists where the ranks of jobs come from: files of `fold -o` (partials), or runs,
 * which become partials in memory. Functions print what went wrong, and return 0 or CMD_ERROR.
 */
#pragma once

#include "report/ranks.h"
#include "store/fleet/part.h"

struct source {
	char *path; /* path of a partial; NULL: the source is `runs`, a job's runs */
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

/* Lists sources, sorted by job and attempt. Call sources_done() also after an error. */
int sources_list(const struct options *options, struct sources *ret);
void sources_done(struct sources *sources);

size_t sources_job_end(const struct sources *sources, size_t begin);

/* Fills source->part from the runs, or from the partial but without its windows. */
int source_load(const struct options *options, struct source *source);

const char *source_name(const struct source *source);

int sources_fail(const char *path, int error);

/* Add to a part: texts about a rank, and texts about the job. Return 0 or -ENOMEM. */
int sources_add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		      const char *gpu, const char *ended);
int sources_add_words(struct part *part, const char *const words[PART_WORDS]);

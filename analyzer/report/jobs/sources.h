/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - lists where a job's ranks come from: partials of fold, and runs, which become
 * partials. Functions print what went wrong, and return 0 or CMD_ERROR.
 */
#pragma once

#include "report/ranks.h"
#include "store/fleet/part.h"

struct source {
	char *path; /* NULL: all runs of a job */
	struct rank_files runs;
	char *job; /* NULL: not known */
	int64_t attempt;
	struct part part; /* empty until source_load() fills it */
};

struct sources {
	struct source *list;
	size_t count;
	struct rank_files files;
};

/* Call sources_done() also after an error. */
int sources_list(const struct options *options, struct sources *ret);
void sources_done(struct sources *sources);

size_t sources_job_end(const struct sources *sources, size_t begin);

/* Does not read a partial's windows. */
int source_load(const struct options *options, struct source *source);

const char *source_name(const struct source *source);

int sources_fail(const char *path, int error);

/* Return 0 or -ENOMEM. */
int sources_add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		      const char *gpu, const char *ended);
int sources_add_words(struct part *part, const char *const words[PART_WORDS]);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - the sources of a job's ranks: partials of `dlprof-report fold`, and runs. Runs are
 * read as if they were a partial. Functions print what went wrong: 0 or CMD_ERROR.
 */
#pragma once

#include "report/ranks.h"
#include "store/fleet/part.h"

struct source {
	char *path; /* path of a partial; NULL: a job's runs, all of them */
	struct rank_files runs;
	char *job; /* NULL: not known */
	int64_t attempt;
	struct part part; /* empty until source_load() */
};

struct sources {
	struct source *list; /* sorted by job */
	size_t count;
	struct rank_files files; /* all runs that were named */
};

/* Lists the sources; sources_done() also after an error. */
int sources_list(const struct options *options, struct sources *ret);
void sources_done(struct sources *sources);

/* Where the sources of `begin`'s job and attempt end. */
size_t sources_job_end(const struct sources *sources, size_t begin);

/* Reads a source, a partial without its windows. */
int source_load(const struct options *options, struct source *source);

/* The source's name for messages. */
const char *source_name(const struct source *source);

/* Says that a partial cannot be read. */
int sources_fail(const char *path, int error);

/* Copies texts about a rank, or its job, into a part. 0 or -ENOMEM. */
int sources_add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		      const char *gpu, const char *ended);
int sources_add_words(struct part *part, const char *const words[PART_WORDS]);

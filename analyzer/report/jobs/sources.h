/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.h - lists where a job's ranks come from: partials of `dlprof-report fold`, and runs,
 * which are read as if they were a partial. Functions print what went wrong, and return 0 or
 * CMD_ERROR.
 */
#pragma once

#include "report/ranks.h"
#include "store/fleet/part.h"

struct source {
	char *path; /* path of a partial; NULL: the source is all runs of a job */
	struct rank_files runs;
	char *job; /* id of the job; NULL: not known */
	int64_t attempt;
	struct part part; /* empty until source_load() fills it */
};

struct sources {
	struct source *list; /* sorted by job */
	size_t count;
	struct rank_files files; /* all runs named on the command line */
};

/* Lists the sources; call sources_done() also after an error. */
int sources_list(const struct options *options, struct sources *ret);
void sources_done(struct sources *sources);

/* Returns the index after the last source of the job and attempt of source `begin`. */
size_t sources_job_end(const struct sources *sources, size_t begin);

/* Reads a source; from a partial all but its windows. */
int source_load(const struct options *options, struct source *source);

/* Returns what messages call a source. */
const char *source_name(const struct source *source);

/* Prints that a partial cannot be read, and returns CMD_ERROR. */
int sources_fail(const char *path, int error);

/* Copy texts about a rank or its job into a partial. Return 0 or -ENOMEM. */
int sources_add_texts(struct part *part, struct part_rank *rank, const char *path, const char *host,
		      const char *gpu, const char *ended);
int sources_add_words(struct part *part, const char *const words[PART_WORDS]);

/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the ranks of a job: its verdict, and a row for each. These functions decide nothing. */
#ifndef RENDER_RANKS_H
#define RENDER_RANKS_H

#include "analysis/bar.h"
#include "analysis/rank.h"
#include "render/page.h"
#include "render/verdict.h"

struct rank_row {
	const char *path;
	char *host; /* NULL: not known */
	char *gpu;  /* its device's name and place, or the first of several; NULL: not known */
	int64_t rank;
	struct finding finding;
	bool live;
	struct bar *bars; /* its batches as a picture; NULL: none is wanted */
	size_t bar_count;
};

struct ranks {
	const char *path; /* of the job: the folder, or the first run */
	const struct rank_row *rows;
	const struct rank_blame *blames; /* of the same order */
	size_t count;
	struct rank_finding job;
};

/* "up to 41 % of the job's time is lost to waiting for data" */
const char *ranks_verdict_words(const struct rank_finding *job, char text[VERDICT_SENTENCE]);

/* Which rank it is, or that no single one is to blame; "" where there is nothing to say. */
void ranks_culprit_words(const struct ranks *ranks, char *text, size_t size);

/* Of the lost time, in which the rank waited longest; NAN where the ranks are judged alone. */
double ranks_blame_share(const struct ranks *ranks, size_t i);

/* Stall ratios of the ranks that have one; NAN: none has. */
struct ranks_spread {
	double least, median, most;
};
struct ranks_spread ranks_spread(const struct ranks *ranks);

/* How many hosts they ran on. */
size_t ranks_host_count(const struct ranks *ranks);

/* Whose report to read first. */
size_t ranks_worst(const struct ranks *ranks);

/*
 * The places of the rows as they are shown: as they are, or those to blame first where there are
 * more than RANKS_MOST_ROWS. `ret`: of ranks->count.
 */
#define RANKS_MOST_ROWS 16
void ranks_order(const struct ranks *ranks, size_t *ret);

/* "by step: ..." */
#define RANKS_WORDS 120
const char *ranks_alignment_words(const struct rank_finding *job, char text[RANKS_WORDS]);

void ranks_text(const struct ranks *ranks, const struct page *page);

/* `dlprof.report/2` of a job: `verdict` and `stall` are the job's, `ranks` has a row for each. */
void ranks_json(const struct ranks *ranks, FILE *out);

#endif

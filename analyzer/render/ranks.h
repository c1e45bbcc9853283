/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the ranks of a job: its verdict, and a row for each. These functions decide nothing. */
#ifndef RENDER_RANKS_H
#define RENDER_RANKS_H

#include "analysis/rank.h"
#include "render/page.h"

struct rank_row {
	const char *path;
	char *host; /* NULL: not known */
	int64_t rank;
	struct finding finding;
	bool live;
};

struct ranks {
	const char *path; /* of the job: the folder, or the first run */
	const struct rank_row *rows;
	const struct rank_blame *blames; /* of the same order */
	size_t count;
	struct rank_finding job;
};

void ranks_text(const struct ranks *ranks, const struct page *page);

/* `dlprof.report/1` of a job: `verdict` and `stall` are the job's, `ranks` has a row for each. */
void ranks_json(const struct ranks *ranks, FILE *out);

#endif

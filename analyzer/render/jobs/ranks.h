/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - shows a job's verdict, and a row for each rank. Nothing is decided here. */
#pragma once

#include "analysis/account/bar.h"
#include "analysis/ranks/rank.h"
#include "render/form/outline.h"
#include "render/run/ended.h"

struct rank_row {
	const char *path;
	char *host; /* NULL: not known */
	char *gpu;  /* NULL: not known */
	int64_t rank, world_size; /* world_size <= 0: not known */
	struct finding finding;
	float alone_share; /* share of the steps with only collectives; NAN: not known */
	bool live;
	char ended[ENDED_WORDS]; /* "Killed by SIGKILL", it or a worker; "": it ended well */
	bool is_terminated;      /* by SIGTERM, which launchers send to all ranks if one fails */
	struct bar *bars;        /* NULL: no picture is drawn */
	size_t bar_count;
};

struct ranks {
	const char *path; /* its folder, or its first rank's database */
	struct rank_row *rows;
	struct rank_blame *blames; /* in the order of `rows` */
	size_t count;
	struct rank_finding job;
	const char *job_id;          /* NULL: not known */
	int64_t attempt, world_size; /* UNKNOWN: not known */
	int64_t start_unix_ns;       /* start of its first rank; UNKNOWN: not known */
};

/* Writes "1,016 of 1,024 ranks on 128 hosts; 64 have no loader". */
#define RANKS_COUNT 100
const char *ranks_count_words(const struct ranks *ranks, char text[RANKS_COUNT]);

bool ranks_in_doubt(const struct ranks *ranks);

/* Returns "-" if there is no ratio to show. */
const char *ranks_share_words(enum stall_verdict verdict, double ratio, char *text);

size_t ranks_without_loader(const struct ranks *ranks);

/* The group -1 means all culprits. */
typedef bool ranks_filter(const struct rank_blame *blame, int group);
ranks_filter ranks_is_in_group, ranks_is_culprit;

/* Returns the group that the finding is about, or -1 if it is about all ranks. */
int ranks_group(const struct ranks *ranks);

/* Returns the share of the job's loss that rank `i` causes; NAN if ranks do not meet. */
double ranks_blame_share(const struct ranks *ranks, size_t i);

/* NAN: no rank has a ratio */
struct ranks_spread {
	double least, median, most;
};
struct ranks_spread ranks_spread(const struct ranks *ranks);

size_t ranks_worst(const struct ranks *ranks);

/* With more than RANKS_MOST_ROWS ranks, those to blame come first; else nothing changes. */
#define RANKS_MOST_ROWS 16
void ranks_order(const struct ranks *ranks, size_t *ret);

/* Returns false if this reason does not apply. */
#define RANKS_DOUBT  300
#define RANKS_DOUBTS 3
bool ranks_doubt(const struct ranks *ranks, size_t which, char text[RANKS_DOUBT]);
extern const char *const ranks_doubt_ids[RANKS_DOUBTS];

/* Writes a job's id; "71 (1)" with the attempt, unless that is the first. */
#define RANKS_ID 64
const char *ranks_id_words(const struct ranks *job, char text[RANKS_ID]);

/* Return 0 or -ENOMEM; call outline_done() in both cases. */
int jobs_outline(const char *path, const struct ranks *jobs, size_t count, struct outline *o);
void jobs_json(const char *path, const struct ranks *jobs, size_t count, FILE *out);

/* Rows are of at most `most` ranks. */
#define RANKS_LIMITS "limits"
int ranks_outline(const struct ranks *ranks, size_t most, bool with_paths, struct outline *o);

void ranks_json(const struct ranks *ranks, FILE *out);

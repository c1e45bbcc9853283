/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - the ranks of a job: its verdict, and a row for each. These functions decide nothing. */
#pragma once

#include "analysis/account/bar.h"
#include "analysis/ranks/rank.h"
#include "render/form/outline.h"
#include "render/run/ended.h"

struct rank_row {
	const char *path;
	char *host; /* NULL: not known */
	char *gpu;  /* name and place of its first device; NULL: not known */
	int64_t rank, world_size; /* world_size <= 0: not known */
	struct finding finding;
	float alone_share; /* share of the steps only in collectives; NAN: not known */
	bool live;
	char ended[ENDED_WORDS]; /* "Killed by SIGKILL", maybe of its worker; "": it ended well */
	bool is_terminated;      /* by SIGTERM, which launchers send to all when one rank fails */
	struct bar *bars;        /* picture of its batches; NULL: none is wanted */
	size_t bar_count;
};

struct ranks {
	const char *path; /* path of the job: its folder, or its first run */
	struct rank_row *rows;
	struct rank_blame *blames; /* in the same order as `rows` */
	size_t count;
	struct rank_finding job;
	const char *job_id;          /* NULL: not known */
	int64_t attempt, world_size; /* UNKNOWN: not known */
	int64_t start_unix_ns;       /* start of its first rank; or UNKNOWN */
};

/* "1,016 of 1,024 ranks on 128 hosts; 64 have no loader" */
#define RANKS_COUNT 100
const char *ranks_count_words(const struct ranks *ranks, char text[RANKS_COUNT]);

/* Whether for some rank it is unknown whose its waits are. */
bool ranks_in_doubt(const struct ranks *ranks);

/* A ratio for a table, in UNITS_MAX bytes; "-": there is none to show. */
const char *ranks_share_words(enum stall_verdict verdict, double ratio, char *text);

/* How many ranks have no batches. */
size_t ranks_without_loader(const struct ranks *ranks);

/* Whether a rank is in a group, or one of its culprits (group -1: of all culprits). */
typedef bool ranks_filter(const struct rank_blame *blame, int group);
ranks_filter ranks_is_in_group, ranks_is_culprit;

/* The group that the job's finding describes; -1: all ranks. */
int ranks_group(const struct ranks *ranks);

/* The share of the lost time in which this rank waited longest; NAN: ranks are judged alone. */
double ranks_blame_share(const struct ranks *ranks, size_t i);

/* Stall ratios of the ranks that have one; NAN: no rank has. */
struct ranks_spread {
	double least, median, most;
};
struct ranks_spread ranks_spread(const struct ranks *ranks);

/* The rank whose report should be read first. */
size_t ranks_worst(const struct ranks *ranks);

/*
 * The order in which rows are shown: as they are or, if there are more than RANKS_MOST_ROWS, ranks
 * to blame first. `ret` has ranks->count places.
 */
#define RANKS_MOST_ROWS 16
void ranks_order(const struct ranks *ranks, size_t *ret);

/* Writes one of the reasons to doubt the verdict. False: this one does not hold. */
#define RANKS_DOUBT  300
#define RANKS_DOUBTS 3
bool ranks_doubt(const struct ranks *ranks, size_t which, char text[RANKS_DOUBT]);
extern const char *const ranks_doubt_ids[RANKS_DOUBTS];

/* "71 (1)": with its attempt, if it is not the first. */
#define RANKS_ID 64
const char *ranks_id_words(const struct ranks *job, char text[RANKS_ID]);

/* Makes a row for each of several jobs in `path`. 0 or -ENOMEM; outline_done() anyway. */
int jobs_outline(const char *path, const struct ranks *jobs, size_t count, struct outline *o);
void jobs_json(const char *path, const struct ranks *jobs, size_t count, FILE *out);

/*
 * Makes the job's verdict, a row for each of `most` ranks ("ranks"), and the verdict's limits. 0 or
 * -ENOMEM; outline_done() anyway.
 */
#define RANKS_LIMITS "limits"
int ranks_outline(const struct ranks *ranks, size_t most, bool with_paths, struct outline *o);

/* Writes facts about a whole job, as members of an open object. */
struct jsonw;
void ranks_json_job(struct jsonw *json, const struct ranks *ranks);

/* Writes a job's `dlprof.report/3`: `verdict` and `stall` are the job's, `ranks` has its rows. */
void ranks_json(const struct ranks *ranks, FILE *out);

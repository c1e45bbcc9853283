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
	char *gpu;  /* its device's name and place, or the first of several; NULL: not known */
	int64_t rank, world_size; /* of which; <= 0: not known */
	struct finding finding;
	float alone_share; /* of the steps: its GPU was in collectives alone; NAN: not known */
	bool live;
	char ended[ENDED_WORDS]; /* "Killed by SIGKILL", or its worker was; "": as it should */
	bool is_terminated;      /* by SIGTERM: launchers do that to all when one rank fails */
	struct bar *bars;        /* its batches as a picture; NULL: none is wanted */
	size_t bar_count;
};

struct ranks {
	const char *path; /* of the job: the folder, or the first run */
	struct rank_row *rows;
	struct rank_blame *blames; /* of the same order */
	size_t count;
	struct rank_finding job;
	const char *job_id;          /* NULL: not known */
	int64_t attempt, world_size; /* SERIES_UNKNOWN: not known */
	int64_t start_unix_ns;       /* of its first rank; SERIES_UNKNOWN */
};

/* "1,016 of 1,024 ranks on 128 hosts; 64 have no loader" */
#define RANKS_COUNT 100
const char *ranks_count_words(const struct ranks *ranks, char text[RANKS_COUNT]);

/* Whether of one it cannot be told whose its waits are. */
bool ranks_in_doubt(const struct ranks *ranks);

/* A ratio in a table, in a buffer of UNITS_MAX bytes; "-": there is none to show. */
const char *ranks_share_words(enum stall_verdict verdict, double ratio, char *text);

/* How many of them have no batches. */
size_t ranks_without_loader(const struct ranks *ranks);

/* Is it one of the group's ranks, or of its culprits? Of all culprits where the group is -1. */
typedef bool ranks_filter(const struct rank_blame *blame, int group);
ranks_filter ranks_is_in_group, ranks_is_culprit;

/* The group that the job's finding is of, or -1: of all. */
int ranks_group(const struct ranks *ranks);

/* Of the lost time, in which the rank waited longest; NAN where the ranks are judged alone. */
double ranks_blame_share(const struct ranks *ranks, size_t i);

/* Stall ratios of the ranks that have one; NAN: none has. */
struct ranks_spread {
	double least, median, most;
};
struct ranks_spread ranks_spread(const struct ranks *ranks);

/* Whose report to read first. */
size_t ranks_worst(const struct ranks *ranks);

/*
 * The places of the rows as they are shown: as they are, or those to blame first where there are
 * more than RANKS_MOST_ROWS. `ret`: of ranks->count.
 */
#define RANKS_MOST_ROWS 16
void ranks_order(const struct ranks *ranks, size_t *ret);

/* What speaks against it, one by one from *at = 0 on. False: nothing more does. */
#define RANKS_DOUBT 300
bool ranks_doubt_words(const struct ranks *ranks, size_t *at, char text[RANKS_DOUBT]);
struct jsonw;
void ranks_json_doubts(struct jsonw *json, const struct ranks *ranks);

/* "71 (1)": with its attempt, if it is not the first. */
#define RANKS_ID 64
const char *ranks_id_words(const struct ranks *job, char text[RANKS_ID]);

/* A row for each of several jobs, which `path` holds. 0 or -ENOMEM; outline_done() anyway. */
int jobs_outline(const char *path, const struct ranks *jobs, size_t count, struct outline *o);
void jobs_json(const char *path, const struct ranks *jobs, size_t count, FILE *out);

/*
 * The job's verdict, a row for each of `most` ranks ("ranks"), and what the verdict rests on.
 * 0 or -ENOMEM; outline_done() anyway.
 */
#define RANKS_LIMITS "limits"
int ranks_outline(const struct ranks *ranks, size_t most, bool with_paths, struct outline *o);

/* What is said of a job as a whole, as members of an object that is open. */
void ranks_json_job(struct jsonw *json, const struct ranks *ranks);

/* `dlprof.report/3` of a job: `verdict` and `stall` are the job's, `ranks` has a row for each. */
void ranks_json(const struct ranks *ranks, FILE *out);

/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.h - shows a job's verdict, and a row for each rank. Nothing is decided here. */
#pragma once

#include "analysis/account/series.h"
#include "analysis/account/step_parts.h"
#include "analysis/ranks/rank.h"
#include "render/form/outline.h"
#include "render/run/ended.h"

struct rank_row {
	const char *path;
	char *host; /* NULL: unknown */
	char *gpu;  /* NULL: unknown */
	int64_t rank, world_size; /* world_size <= 0: unknown */
	struct finding finding;
	struct step_parts step; /* the parts of a step; if not split: unknown */
	float alone_share; /* share of the steps in which only collectives ran; NAN: unknown */
	bool is_dispatched; /* rank 0 loads its batches: see dialect_is_dispatcher() */
	bool live;
	char ended[ENDED_WORDS]; /* "Killed by SIGKILL"; "": the rank and its workers ended well */
	bool is_terminated;      /* ended by SIGTERM: launchers send it to all ranks if one fails */
	struct bar *bars;        /* NULL: no picture is drawn */
	size_t bar_count;
};

struct report;
struct ranks {
	const char *path; /* the job's folder, or the database of its first rank */
	struct rank_row *rows;
	struct rank_blame *blames; /* in the order of `rows` */
	size_t count;
	struct rank_finding job;
	const char *job_id;          /* NULL: unknown */
	int64_t attempt, world_size; /* may be UNKNOWN, like start_unix_ns */
	int64_t start_unix_ns;       /* start of the first rank */
	/* Report on the rank to look at first, whose cause and remedies are shown. NULL: none. */
	const struct report *worst;
};

/* Writes "1,016 of 1,024 ranks on 128 hosts; 64 have no loader". */
#define RANKS_COUNT 100
const char *ranks_count_words(const struct ranks *ranks, char text[RANKS_COUNT]);

bool ranks_in_doubt(const struct ranks *ranks);

/* Writes a rank's or job's stall ratio; "-" if the verdict has none. */
const char *ranks_share_words(enum stall_verdict verdict, double ratio, char *text);

size_t ranks_without_loader(const struct ranks *ranks);

/* Return true if the rank is in this group (-1: in none), or is a culprit of it (-1: of any). */
typedef bool ranks_filter(const struct rank_blame *blame, int group);
ranks_filter ranks_is_in_group, ranks_is_culprit;

/* Returns the group of ranks that the job's finding is about, or -1: about all ranks. */
int ranks_group(const struct ranks *ranks);

/*
 * Returns rank i's share of the time that its group or job lost. NAN: the ranks' steps are not
 * matched, rank 0 loads for all, or the job is not input-bound.
 */
double ranks_blame_share(const struct ranks *ranks, size_t i);

/* The least, median and largest stall ratio of the ranks. NAN: no rank has one. */
struct ranks_spread {
	double least, median, most;
};
struct ranks_spread ranks_spread(const struct ranks *ranks);

/*
 * Finds a rank that spends more of its time in one part of its steps than any other rank, by a
 * tenth or more. The others wait for this rank in their backward passes, which are longer by half
 * of that or more. Returns false if there is none, or if the ranks do not meet in each step.
 */
struct ranks_uneven {
	size_t row;
	enum step_part part;
	double ns, next_ns; /* time of the part in this rank, and its longest time in another */
};
bool ranks_uneven(const struct ranks *ranks, struct ranks_uneven *ret);

/* Returns the row to look at first: the rank that loads for all; else, if no rank is a culprit, one
 * with uneven steps; else the rank that waited longest. */
size_t ranks_worst(const struct ranks *ranks);

#define RANKS_MOST_ROWS 16
/* Lists the rows' indices by rank or, if there are over RANKS_MOST_ROWS, by blame. */
void ranks_order(const struct ranks *ranks, size_t *ret);

/* Writes the `which`-th reason to doubt the job's figures. Returns false if it does not apply. */
#define RANKS_DOUBT  300
#define RANKS_DOUBTS 3
bool ranks_doubt(const struct ranks *ranks, size_t which, char text[RANKS_DOUBT]);
extern const char *const ranks_doubt_ids[RANKS_DOUBTS];

/* Writes a job's id, and the attempt if it is not the first: "71 (1)". */
#define RANKS_ID 64
const char *ranks_id_words(const struct ranks *job, char text[RANKS_ID]);

/* Makes the outline of jobs. Returns 0 or -ENOMEM; call outline_done() in both cases. */
int jobs_outline(const char *path, const struct ranks *jobs, size_t count, struct outline *o);
void jobs_json(const char *path, const struct ranks *jobs, size_t count, FILE *out);

/* Makes the outline of a job, in which at most `most` ranks get a row. Returns 0 or -ENOMEM. */
#define RANKS_WHY    "why"
#define RANKS_LIMITS "limits"
int ranks_outline(const struct ranks *ranks, size_t most, bool with_paths, struct outline *o);

void ranks_json(const struct ranks *ranks, FILE *out);

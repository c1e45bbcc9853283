/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - some ranks of a job in a file, as written by `dlprof-report fold -o`.
 *
 * The file has a head, facts about the job and each rank, texts, and last the windows, by far the
 * most. A checksum covers what lies before the windows, another one the windows. A file is not
 * trusted: merge.h can take any part that was read, whatever it holds. Numbers are little-endian,
 * as on both of our processors.
 *
 * Functions return 0 or a negative errno: -EMEDIUMTYPE: it is no part; -EPROTO: it is of another
 * version; -ENODATA: it is truncated; -EBADMSG: it is damaged.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/ranks/rank_job.h"

#define PART_NONE UINT32_MAX /* place of a text that does not exist */

/* What the report of a job, and lake.def, need of a rank. */
struct part_rank {
	int64_t rank;
	uint64_t batch_count, steady_count, own_count;
	double stall_ratio, wait_ns, time_ns, own_time_ns;
	/* sums over the rank's loads; NAN: not known */
	double load_ns, open_ns, read_ns, decode_ns;
	double read_bytes, storage_bytes;            /* NAN: not known */
	float period_ns, step_wait_ns, starved_ns;   /* members of the same names of rank_member */
	uint32_t group;
	uint32_t verdict, cause;
	uint32_t by_gpu, live;
	uint32_t path, host, gpu; /* places of texts */
	uint32_t ended;           /* place of a text: how the rank ended, if not well */
	uint32_t is_terminated;   /* as in rank_row */
	float alone_share;        /* NAN: not known */
	uint32_t world_size;      /* 0: not known */
	struct rank_place place;
};

/* Facts of the whole job, taken from its first rank. */
enum part_word {
	PART_JOB,    /* id of the job */
	PART_RUN_ID, /* id of the run, if it has no job */
	PART_COMMAND,
	PART_CLUSTER,
	PART_OWNER,
	PART_REVISION,
	PART_DATASET,
	PART_STORAGE,
	PART_WORDS
};

struct part {
	struct rank_job job; /* the job; it has no windows before part_read_windows() */
	struct part_rank *ranks;
	char *text;
	size_t text_bytes;
	uint32_t words[PART_WORDS];                 /* places of texts */
	int64_t attempt, world_size, start_unix_ns; /* < 0: not known */
	uint64_t check;                             /* checksum of the windows */
};

int part_read(const char *path, struct part *ret);

/* Reads the windows from the same file; free them by rank_free_windows(). */
int part_read_windows(const char *path, struct part *part);
void part_done(struct part *part);

/* Whether a file is a part, whole or not. */
bool part_is(const char *path);

/* Adds a text, which may be NULL; *ret_at: its place. Returns 0 or -ENOMEM. */
int part_add_text(struct part *part, const char *text, uint32_t *ret_at);
const char *part_text(const struct part *part, uint32_t at);
const char *part_word(const struct part *part, enum part_word word);

/* Begins a part without texts. */
void part_init(struct part *part);

/* Writes a part. Returns 0 or -ENOMEM; write errors show in ferror(out). */
int part_write(const struct part *part, FILE *out);

#endif

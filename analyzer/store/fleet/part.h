/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - a file with some ranks of a job, as `dlprof-report fold -o` writes it.
 *
 * The file is not trusted: whatever part_read() accepts, merge.h can work with. Numbers are
 * little-endian. Errors: -EMEDIUMTYPE: the file is no part; -EPROTO: it is of another version;
 * -ENODATA: it is truncated; -EBADMSG: it is damaged.
 */
#ifndef PART_H
#define PART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/ranks/rank_job.h"

#define PART_NONE UINT32_MAX /* the place of a missing text */

struct part_rank {
	int64_t rank;
	uint64_t batch_count, steady_count, own_count;
	double stall_ratio, wait_ns, time_ns, own_time_ns;
	/* sums over the rank's loads; NAN: unknown */
	double load_ns, open_ns, read_ns, decode_ns;
	double read_bytes, storage_bytes; /* NAN: unknown */
	/* as in struct rank_member, where step_wait_ns is named wait_ns */
	float period_ns, step_wait_ns, starved_ns;
	uint32_t group;
	uint32_t verdict, cause;
	uint32_t by_gpu, live;
	uint32_t path, host, gpu; /* places in part.text; PART_NONE: unknown */
	uint32_t ended;           /* how the rank ended, as a place of a text; PART_NONE: well */
	uint32_t is_terminated;   /* as in rank_row */
	float alone_share;        /* NAN: unknown */
	uint32_t world_size;      /* 0: unknown */
	struct rank_place place;
};

/* Texts about the whole job, which are those of its first rank */
enum part_word {
	PART_JOB,
	PART_RUN_ID, /* the run's id, if there is no id of a job */
	PART_COMMAND,
	PART_CLUSTER,
	PART_OWNER,
	PART_REVISION,
	PART_DATASET,
	PART_STORAGE,
	PART_WORDS
};

struct part {
	struct rank_job job; /* without windows until part_read_windows() */
	struct part_rank *ranks;
	char *text;
	size_t text_bytes;
	uint32_t words[PART_WORDS];
	int64_t attempt, world_size, start_unix_ns; /* negative: unknown */
	uint64_t check;
};

int part_read(const char *path, struct part *ret);

/* Reads the windows of a part, after part_read(). Free them by rank_free_windows(). */
int part_read_windows(const char *path, struct part *part);
void part_done(struct part *part);

/* Returns true if the file is a part, also if it is damaged. */
bool part_is(const char *path);

/* Adds a text (may be NULL). *ret_at is its place, for part_text(). */
int part_add_text(struct part *part, const char *text, uint32_t *ret_at);
const char *part_text(const struct part *part, uint32_t at);
const char *part_word(const struct part *part, enum part_word word);

void part_init(struct part *part);

/* Writes a part. The caller checks ferror(out). */
int part_write(const struct part *part, FILE *out);

#endif

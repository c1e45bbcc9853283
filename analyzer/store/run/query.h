/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - reads a run into plain structs, which own their strings. */
#pragma once

#include <stdint.h>

#include "analysis/cause/stages.h"
#include "analysis/ranks/rank.h"
#include "store/database/db.h"
#include "store/database/run.h"

int query_run(struct db *db, struct run_info *ret_run);
void run_info_done(struct run_info *run);

/* Lists loaders; the first has the most time. Free *ret_loaders (NULL: none). */
int query_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count);

/* Reads batches into `series`, initialised by the caller. A negative time is not observed. */
int query_series(struct db *db, const struct batch_filter *filter, struct batch_series *series);

/* Returns the part of a batch's wait after the end of its load, or UNKNOWN. */
int64_t query_handover_ns(const struct batch_row *row, int64_t begin_ns, int64_t load_begin_ns);

/* Lists notes, doubts before warnings, older before newer. Free *ret_notes and each note. */
int query_notes(struct db *db, char ***ret_notes, size_t *ret_count);

int query_set(struct db *db, char ***ret_changes, size_t *ret_count);

/* Like query_loaders(), but if only one loader has batches, reads nothing but its id. */
int query_rank_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count);

/* Lists when each epoch began to deliver, plus `offset_ns`. Free *ret_epochs. */
int query_rank_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count);

/*
 * Reads a loader's stages, with sums over its epochs; `is_later`: without the first epoch. Call
 * stages_done(ret) afterwards.
 */
int stages_read(struct db *db, int64_t loader_id, bool is_later, struct stages *ret);

/* A part of the run: the share of it that a stage spent in calls. 1: one call all the time. */
struct stage_bar {
	int64_t stage_id;
	double begin_ns, end_ns, busy, own;
};

/* Lists the bars of a loader's stages, ordered by time. Free *ret (NULL: none). */
int stage_bars_read(struct db *db, int64_t loader_id, struct stage_bar **ret, size_t *ret_count);

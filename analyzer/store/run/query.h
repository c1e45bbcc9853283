/* SPDX-License-Identifier: Apache-2.0 */
/* query.h - reads a run into plain structs, which own their strings. */
#pragma once

#include "store/database/db.h"
#include "store/database/run.h"

int query_run(struct db *db, struct run_info *ret_run);
void run_info_done(struct run_info *run);

/* Lists loaders, the one with the most time first. Free *ret_loaders (NULL: none). */
int query_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count);

/* Reads batches into `series`, which the caller initialised. A negative time is not observed. */
int query_series(struct db *db, const struct batch_filter *filter, struct batch_series *series);

/* Returns the part of a batch's wait that came after its load was finished, or UNKNOWN. */
int64_t query_handover_ns(const struct batch_row *row, int64_t begin_ns, int64_t load_begin_ns);

/* Lists notes: doubts before warnings, the oldest first. Free *ret_notes and each note. */
int query_notes(struct db *db, char ***ret_notes, size_t *ret_count);

int query_set(struct db *db, char ***ret_changes, size_t *ret_count);

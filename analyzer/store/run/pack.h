/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - reads packs: second copies of a long run's batches, as arrays of 15 bytes a batch.
 *
 * SQLite needs half a microsecond to return a row, which is most of a report's time with ten
 * million batches. A trigger deletes a loader's pack when any of its rows changes.
 */
#pragma once

#include "store/database/db.h"
#include "store/run/pack_format.h"

/* -ENOENT: no pack is valid, so read the rows. */
int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret);

/* The series is empty before. -ENOENT: no pack is valid, so read the rows. */
int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series);

/* -ENOENT: some loader has no pack. */
int pack_sum_totals(struct db *db, struct load_totals *ret_totals);

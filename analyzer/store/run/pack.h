/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - reads packs: second copies of a long run's batches, as arrays with 15 bytes for a batch.
 *
 * SQLite needs half a microsecond to return a row. With ten million batches, that is most of a
 * report's time. If any row of a loader changes, a trigger deletes the loader's pack.
 */
#pragma once

#include "store/database/db.h"
#include "store/run/pack_format.h"

/* Reads the sums over all batches of a loader. -ENOENT: no valid pack, so read the rows. */
int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret);

/* Fills an empty series with a loader's batches. -ENOENT: no valid pack, so read the rows. */
int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series);

/* Adds up the totals of all loaders. -ENOENT: a loader has no valid pack. */
int pack_sum_totals(struct db *db, struct load_totals *ret_totals);

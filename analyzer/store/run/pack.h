/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - reads packs: second copies of a long run's batches, as arrays of 15 bytes for a batch.
 *
 * SQLite takes half a microsecond to return a row, which is most of a report's time if there are
 * ten million batches. A trigger deletes a loader's pack when any row of the loader changes.
 */
#pragma once

#include "store/database/db.h"
#include "store/run/pack_format.h"

/* Reads sums over all batches of a loader. -ENOENT: there is no valid pack, so read the rows. */
int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret);

/* Fills an empty series. -ENOENT: there is no valid pack, so read the rows. */
int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series);

/* Sums the totals of all loaders. -ENOENT: a loader has no valid pack. */
int pack_sum_totals(struct db *db, struct load_totals *ret_totals);

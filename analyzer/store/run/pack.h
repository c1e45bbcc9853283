/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - the batches of a long run once more, as arrays: 15 bytes each that are read at once.
 *
 * SQLite takes half a microsecond and more to hand out a row, which is most of a report's time on
 * ten million batches. Packs are made when a run is over, of runs of PACK_LEAST batches or more,
 * and they are no promise: a trigger drops a loader's pack as soon as any of its rows changes, and
 * without a pack, or with one that makes no sense, the rows are read.
 */
#pragma once

#include "store/database/db.h"
#include "store/run/pack_format.h"

/* Reads what is known of a loader as a whole. -ENOENT: read the rows. */
int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret);

/* Reads all its batches into an empty series. -ENOENT: read the rows. */
int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series);

/* Reads the sums over all loaders; -ENOENT where one of them is not packed. */
int pack_sum_totals(struct db *db, struct load_totals *ret_totals);

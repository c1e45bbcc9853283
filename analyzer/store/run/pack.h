/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - a second copy of the batches of a long run, as arrays that are read at once: 15 bytes
 * each.
 *
 * SQLite takes half a microsecond and more to return a row, which is most of a report's time on ten
 * million batches. Packs are made when a run of PACK_LEAST batches or more is over. They are not
 * part of the public schema: a trigger drops a loader's pack as soon as any of its rows changes,
 * and without a pack, or with an invalid one, the rows are read.
 */
#pragma once

#include "store/database/db.h"
#include "store/run/pack_format.h"

/* Reads the head of a loader's pack. -ENOENT: read the rows instead. */
int pack_read_head(struct db *db, int64_t loader_id, struct pack_head *ret);

/* Reads all batches of a loader into an empty series. -ENOENT: read the rows instead. */
int pack_read_series(struct db *db, int64_t loader_id, struct batch_series *series);

/* Reads the sums over all loaders. -ENOENT: some loader has no pack. */
int pack_sum_totals(struct db *db, struct load_totals *ret_totals);

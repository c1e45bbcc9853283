/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.h - the consumer's side of a run alone, for who reads a thousand of them: waits and steps,
 * nothing of the loads. 0 or a negative errno (db.h).
 */
#ifndef STEPS_H
#define STEPS_H

#include "analysis/rank.h"
#include "store/query.h"

/* The loader with the most time, -1 if there is none; looks at no batch where it is alone. */
int steps_find_loader(struct db *db, int64_t *ret_loader_id);

/* As query_series(), of fewer columns: what stall_judge() takes. */
int steps_read(struct db *db, const struct batch_filter *filter, struct batch_series *series);

/* When each epoch began to deliver, plus `offset_ns`; *ret_epochs is to be freed. */
int steps_read_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count);

#endif

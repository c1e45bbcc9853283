/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - reads what judging a job of many ranks needs of each rank. */
#pragma once

#include "analysis/ranks/rank.h"
#include "store/database/run.h"

/* Like query_loaders(), but if only one loader has batches, reads its id and nothing else. */
int steps_list_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count);

/* Lists when each epoch began to deliver; adds `offset_ns` to the times. Free *ret_epochs. */
int steps_read_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count);

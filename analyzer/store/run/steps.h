/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - reads what judging a job of many ranks needs of each rank. */
#pragma once

#include "analysis/ranks/rank.h"
#include "store/database/run.h"

/* As query_loaders(); but of a single loader it reads only the id, and no batches. */
int steps_list_loaders(struct db *db, struct loader_info **ret_loaders, size_t *ret_count);

/* Reads when each epoch began to deliver, plus `offset_ns`, in order; free *ret_epochs. */
int steps_read_epochs(struct db *db, int64_t loader_id, int64_t offset_ns,
		      struct rank_epoch **ret_epochs, size_t *ret_count);

/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - judges a loader by the account of the thread that takes from it. */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "store/run/query.h"

struct thread_query {
	struct batch_filter filter; /* its loader_id is ignored */
	const struct loader_info *loaders;
	size_t loader_count;
	int64_t missing_count; /* number of records that the database lacks */
	bool is_chosen;        /* the user chose the loader: no other is judged */
};

/*
 * Reads loader *judged into `series`, initialised by the caller, and judges it. If another loader
 * has more than half of the thread's waits, judges that one, and changes *judged. The account has
 * all loaders of the thread. It has only one for a part of a run, for an imported table, if batches
 * were lost, or if the user chose the loader. Divides the account's steps into `parts`. Returns 0
 * or -errno.
 */
int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding, struct step_parts *parts);

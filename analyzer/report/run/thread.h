/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - judge a loader by the account of the thread that asks for its batches. */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "store/run/query.h"

struct thread_query {
	struct batch_filter filter; /* its loader_id is ignored */
	const struct loader_info *loaders;
	size_t loader_count;
	int64_t missing_count; /* records that could not be folded in */
	bool is_chosen;        /* the user wants this loader, and no other */
};

/*
 * Reads the loader at `judged` into `series` (initialised by the caller) and judges it. For a whole
 * run, unless a loader was chosen, the account is that of the thread: of all loaders that it asks.
 * If more than half of its waits are for another loader, that one is judged instead, and `judged`
 * changes. If there is no such account (for a part of a run, an imported table, or with lost
 * batches), it is the loader's own. 0 or -errno.
 */
int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding);

/*
 * Reads what the thread does in its steps: with all its loaders if the finding's account is the
 * thread's, else with the judged one. 0 or -errno.
 */
int thread_parts(struct db *db, const struct thread_query *query, size_t judged,
		 const struct finding *finding, struct step_parts *ret);

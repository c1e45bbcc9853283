/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - judges a loader by the account of the thread that takes its batches. */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "store/run/query.h"

struct thread_query {
	struct batch_filter filter; /* its loader_id is ignored */
	const struct loader_info *loaders;
	size_t loader_count;
	int64_t missing_count; /* records of which the drain could not make rows */
	bool is_chosen;        /* by the user; judge no other loader */
};

/*
 * Reads loader `judged` into `series`, which the caller initialised. For a whole run the account is
 * the thread's; a loader with over half of its waits is judged instead, and `judged` changes. For a
 * part, an imported table, or with lost batches, the account is the loader's own. Returns 0 or
 * -errno.
 */
int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding);

/* Over the loaders that the finding's account is of. Returns 0 or -errno. */
int thread_parts(struct db *db, const struct thread_query *query, size_t judged,
		 const struct finding *finding, struct step_parts *ret);

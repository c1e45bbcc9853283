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
	int64_t missing_count; /* records that are not in the database */
	bool is_chosen;        /* the user chose the loader, so no other one is judged */
};

/*
 * Reads loader *judged into `series`, which the caller initialised, and judges it. For a whole run,
 * the account has all loaders of the thread. If another loader has over half of the thread's waits,
 * that one is judged, and *judged changes. The account has only one loader for a part of a run, for
 * an imported table, and if batches were lost. Returns 0 or -errno.
 */
int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding);

/* Divides the steps in the finding's account into their parts. Returns 0 or -errno. */
int thread_parts(struct db *db, const struct thread_query *query, size_t judged,
		 const struct finding *finding, struct step_parts *ret);

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
	bool is_chosen;        /* the user selected the loader, so judge no other one */
};

/*
 * Reads loader number `judged` into `series`, which the caller initialised, and judges it. For a
 * whole run without a selected loader, the account is the thread's, over all loaders that it uses;
 * if more than half of the thread's waits are for another loader, that loader is judged instead,
 * and `judged` changes. For a part of a run, an imported table, or if batches are lost, the account
 * is the loader's own. Returns 0 or -errno.
 */
int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding);

/*
 * Reads the parts of the thread's steps: over all its loaders if the finding's account is the
 * thread's, else over the judged loader. Returns 0 or -errno.
 */
int thread_parts(struct db *db, const struct thread_query *query, size_t judged,
		 const struct finding *finding, struct step_parts *ret);

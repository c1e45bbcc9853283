/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - judges a loader by the account of the thread that takes its batches. */
#pragma once

#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "store/run/query.h"

struct thread_query {
	struct batch_filter filter; /* loader_id in it is ignored */
	const struct loader_info *loaders;
	size_t loader_count;
	int64_t missing_count; /* records that the drain could not make rows of */
	bool is_chosen;        /* the user selected the loader, so no other is judged */
};

/*
 * Reads loader number `judged` into `series` (initialised by the caller) and judges it. For a whole
 * run without a selected loader, the account is that of the thread: of all loaders that it uses. If
 * more than half of the thread's waits are for another loader, that one is judged instead, and
 * `judged` changes. If there is no such account (for a part of a run, an imported table, or with
 * lost batches), it is the loader's own. Returns 0 or -errno.
 */
int thread_judge(struct db *db, const struct thread_query *query, size_t *judged,
		 struct batch_series *series, struct finding *finding);

/*
 * Reads the parts of the thread's steps: of all its loaders if the finding's account is the
 * thread's, else of the judged one. Returns 0 or -errno.
 */
int thread_parts(struct db *db, const struct thread_query *query, size_t judged,
		 const struct finding *finding, struct step_parts *ret);

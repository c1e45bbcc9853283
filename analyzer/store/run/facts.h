/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - reads from a database what is known about a run's loads apart from their times. */
#pragma once

#include "analysis/account/load_facts.h"
#include "store/database/run.h"

struct db;

/*
 * Reads facts about a run; `loads` has the sums of its loads. Sizes, reads and threads are those of
 * the filter's loader only. NAN: unknown.
 */
int load_facts_read(struct db *db, const struct run_info *run, const struct load_totals *loads,
		    const struct batch_filter *filter, struct load_facts *ret);

/* Returns the name of a kind in wait_kinds.def. */
const char *load_wait_name(enum load_wait_kind kind);

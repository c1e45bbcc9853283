/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what is known of a run's loads beside their times, asked of a database. */
#pragma once

#include "analysis/account/load_facts.h"
#include "store/database/run.h"

struct db;

/*
 * Of the whole run, but for what a batch is made of and what is read for it, which are of the
 * filter's loader. What an older run does not have is NAN. 0 or -errno (db.h).
 */
int load_facts_read(struct db *db, const struct batch_filter *filter, struct load_facts *ret);

/* The word of wait_kinds.def. */
const char *load_wait_name(enum load_wait_kind kind);

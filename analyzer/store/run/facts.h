/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - reads what is known of a run's loads beside their times from a database. */
#pragma once

#include "analysis/account/load_facts.h"
#include "store/database/run.h"

struct db;

/*
 * Reads facts of the whole run; a batch's contents, and what is read for it, are of the filter's
 * loader. What an older run does not have is NAN. 0 or -errno (db.h).
 */
int load_facts_read(struct db *db, const struct batch_filter *filter, struct load_facts *ret);

/* The word of wait_kinds.def for a kind. */
const char *load_wait_name(enum load_wait_kind kind);

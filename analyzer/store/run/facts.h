/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - reads from a database the facts about a run's loads other than times. */
#pragma once

#include "analysis/account/load_facts.h"
#include "store/database/run.h"

struct db;

/*
 * Reads facts about the whole run. Only the size of a batch, and what is read for it, are those of
 * the filter's loader. A fact that an older run lacks is NAN. Returns 0 or -errno (db.h).
 */
int load_facts_read(struct db *db, const struct batch_filter *filter, struct load_facts *ret);

/* Returns the word for a kind of wait, as in wait_kinds.def. */
const char *load_wait_name(enum load_wait_kind kind);

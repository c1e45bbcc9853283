/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - reads from a database what is known of a run's loads beside their times. */
#pragma once

#include "analysis/account/load_facts.h"
#include "store/database/run.h"

struct db;

/*
 * Reads facts of the whole run; a batch's contents, and what is read for it, are those of the
 * filter's loader. NAN: an older run does not have the fact. Returns 0 or -errno (db.h).
 */
int load_facts_read(struct db *db, const struct batch_filter *filter, struct load_facts *ret);

/* Returns the word for a kind of wait, from wait_kinds.def. */
const char *load_wait_name(enum load_wait_kind kind);

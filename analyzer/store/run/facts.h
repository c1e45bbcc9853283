/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - reads from a database the facts about a run's loads other than times. */
#pragma once

#include "analysis/account/load_facts.h"
#include "store/database/run.h"

struct db;

/* A batch's size and reads are of the filter's loader. NAN: an older run lacks the fact. */
int load_facts_read(struct db *db, const struct batch_filter *filter, struct load_facts *ret);

/* Returns the word of wait_kinds.def. */
const char *load_wait_name(enum load_wait_kind kind);

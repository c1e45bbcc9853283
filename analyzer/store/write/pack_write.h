/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - writes what is made of all batches together, once a run is over. */
#pragma once

#include "store/database/db.h"
#include "store/write/write.h"

#define PACK_LEAST 4096

/*
 * Writes each loader's theta, by which the views show what starved, and packs (pack.h) of all
 * loaders if one is that long. 0 or a negative errno (db.h).
 */
int pack_write(struct db *db, struct writer *writer);

/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - writes what is computed from all batches together, once a run is over. */
#pragma once

#include "store/database/db.h"
#include "store/write/write.h"

#define PACK_LEAST 4096

/*
 * Writes each loader's theta, from which the views tell starved batches, and packs (pack.h) for all
 * loaders if one has PACK_LEAST batches. 0 or a negative errno (db.h).
 */
int pack_write(struct db *db, struct writer *writer);

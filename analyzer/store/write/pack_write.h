/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - computes and writes, when a run is over, what needs all batches together. */
#pragma once

#include "store/database/db.h"
#include "store/write/write.h"

#define PACK_LEAST 4096

/*
 * Writes each loader's theta, by which the views find starved batches, and packs (pack.h) for all
 * loaders if one has PACK_LEAST batches. Returns 0 or a negative errno (db.h).
 */
int pack_write(struct db *db, struct writer *writer);

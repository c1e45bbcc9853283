/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - computes and writes, at the end of a run, what depends on all batches. */
#pragma once

#include "store/database/db.h"
#include "store/write/write.h"

#define PACK_LEAST 4096

/* Writes each loader's theta and, if any loader has PACK_LEAST batches, packs for all loaders. */
int pack_write(struct db *db, struct writer *writer);

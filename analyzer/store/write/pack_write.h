/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - computes and writes, at the end of a run, what depends on all batches. */
#pragma once

#include "store/database/db.h"
#include "store/write/write.h"

#define PACK_LEAST 4096

/* Writes thetas and, if a loader has PACK_LEAST batches, all loaders' batches as blobs (t_pack). */
int pack_write(struct db *db, struct writer *writer);

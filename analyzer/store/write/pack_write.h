/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - computes and writes what depends on all batches, at the end of a run. */
#pragma once

#include "store/database/db.h"
#include "store/write/write.h"

#define PACK_LEAST 4096

/* Writes thetas and, if one loader has PACK_LEAST batches, the batches of all loaders as packs. */
int pack_write(struct db *db, struct writer *writer);

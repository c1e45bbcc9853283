/* SPDX-License-Identifier: Apache-2.0 */
/* pack_write.h - makes the packs (pack.h) of a run that is over. */
#pragma once

#include "store/db.h"

#define PACK_LEAST 4096

/* Packs all loaders if one of them is that long. 0 or a negative errno (db.h). */
int pack_write(struct db *db);

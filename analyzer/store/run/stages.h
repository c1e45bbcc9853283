/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - reads the stages of a loader's pipeline from a database. */
#pragma once

#include <stdint.h>

#include "analysis/cause/stages.h"
#include "store/database/db.h"

/*
 * Reads a loader's stages, with sums over all its epochs, or over all but the first. Call
 * stages_done(ret) afterwards.
 */
int stages_read(struct db *db, int64_t loader_id, bool is_later, struct stages *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - the stages of a loader's pipeline, asked of a database. */
#pragma once

#include <stdint.h>

#include "analysis/cause/stages.h"
#include "store/database/db.h"

/* Of what was seen while its batches were asked for; to be given to stages_done(). 0 or -errno. */
int stages_read(struct db *db, int64_t loader_id, struct stages *ret);

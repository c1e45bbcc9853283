/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h - carry the tallies of dlprof/tally.h from segments into the database. */
#pragma once

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/* What changed since the last time; once the process is dead, also adds it to the totals. */
int totals_update(struct losses *losses, struct writer *writer, struct segment *segment);

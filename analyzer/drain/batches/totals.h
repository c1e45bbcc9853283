/* SPDX-License-Identifier: Apache-2.0 */
/* totals.h - copies the tallies of dlprof/tally.h from segments into the database. */
#pragma once

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Writes the tallies of a segment. Once its process has ended, adds them to the totals. */
int totals_update(struct losses *losses, struct writer *writer, struct segment *segment);

/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - makes rows of the shim's records of the stages of a loader's pipeline. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Takes a record of kind STAGE or STAGE_SUM; twice taken, it makes one row. Returns 0 or -errno. */
int stages_take(struct writer *writer, const struct segment *segment, struct dlprof_event *event);

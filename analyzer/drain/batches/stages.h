/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - makes rows of what the shim tells of the stages of a loader's pipeline. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Takes a record of kind STAGE or STAGE_SUM; taking it again writes the same row. 0 or -errno. */
int stages_take(struct writer *writer, const struct segment *segment, struct dlprof_event *event);

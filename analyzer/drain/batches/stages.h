/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - writes rows from the shim's records about the stages of a loader's pipeline. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Writes the row of a STAGE or STAGE_SUM record. If called again, makes no second row. */
int stages_take(struct writer *writer, const struct segment *segment, struct dlprof_event *event);

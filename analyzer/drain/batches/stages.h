/* SPDX-License-Identifier: Apache-2.0 */
/* stages.h - makes rows of what the shim tells of the stages of a loader's pipeline. */
#pragma once

#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Of the kinds STAGE and STAGE_SUM, again and again if need be: the same row. 0 or -errno. */
int stages_take(struct writer *writer, const struct segment *segment, struct dlprof_event *event);

/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - processes of a run still recording that have been at one place for long. */
#pragma once

#include "analysis/account/stall.h"
#include "store/run/lines.h"

/*
 * Lists processes that have been where they are for 10 s, and for three times what a load, a wait
 * or a step takes by `finding`; the longest first. Loads and batches that the loader
 * (UNKNOWN: none) has finished meanwhile show that a process moved on. The array is to be
 * freed, also after an error; 0 or -errno.
 */
int stuck_read(struct db *db, const struct line_samples *samples, int64_t loader_id,
	       const struct finding *finding, struct doing **ret, size_t *ret_count);

/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - finds processes of a live run that have been at one place for long. */
#pragma once

#include "analysis/account/stall.h"
#include "store/run/lines.h"

/*
 * Lists processes that have been at one place for at least 10 s, and for three times the usual time
 * of a load, a wait or a step in `finding`; the longest first. A process has moved on if the loader
 * (UNKNOWN: none) finished a load or a batch of it since. The caller frees the array, even after an
 * error. Returns 0 or -errno.
 */
int stuck_read(struct db *db, const struct line_samples *samples, int64_t loader_id,
	       const struct finding *finding, struct doing **ret, size_t *ret_count);

/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - finds processes of a live run that have long been at one place. */
#pragma once

#include "analysis/account/stall.h"
#include "store/run/lines.h"

/*
 * Lists the processes that have been at one place for at least 10 s, and for more than three times
 * as long as a load, wait or step usually takes. Finishing a load or batch of this loader (UNKNOWN:
 * the run has none) counts as moving on. The longest stuck process comes first. The caller frees
 * the array, also after an error. Returns 0 or -errno.
 */
int stuck_read(struct db *db, const struct line_samples *samples, int64_t loader_id,
	       const struct finding *finding, struct doing **ret, size_t *ret_count);

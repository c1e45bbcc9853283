/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - finds processes of a live run that have been at one place for long. */
#pragma once

#include "analysis/account/stall.h"
#include "store/run/lines.h"

/*
 * Lists processes that have been at one place for 10 s, and for three times as long as a load, wait
 * or step usually takes. A process that has finished a load or batch of this loader (UNKNOWN: the
 * run has no loader) is at its place since then. The process that was there longest comes first.
 * The caller frees the array, also after an error. Returns 0 or -errno.
 */
int stuck_read(struct db *db, const struct line_samples *samples, int64_t loader_id,
	       const struct finding *finding, struct doing **ret, size_t *ret_count);

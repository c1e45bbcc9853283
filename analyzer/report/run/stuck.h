/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - finds processes of a recording run that have been at one place for long. */
#pragma once

#include "analysis/account/stall.h"
#include "store/run/lines.h"

/*
 * Lists processes that have been at one place for 10 s, and for three times what a load, a wait or
 * a step takes by `finding`; the longest first. Loads and batches that the loader (UNKNOWN: none)
 * has finished since then show that a process moved on. The caller frees the array, also after an
 * error. Returns 0 or -errno.
 */
int stuck_read(struct db *db, const struct line_samples *samples, int64_t loader_id,
	       const struct finding *finding, struct doing **ret, size_t *ret_count);

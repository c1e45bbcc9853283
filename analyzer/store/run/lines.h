/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - reads a database's stack samples, and where each process was last seen. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/lines.h"
#include "store/database/db.h"

/* Reads stack samples, at most MOST_STACKS. Call lines_free() also after an error. */
int lines_read(struct db *db, struct line_samples *ret);
void lines_free(struct line_samples *samples);

/* Where a process was when its stack was last sampled. */
struct doing {
	int64_t pid, worker_id;    /* worker_id: UNKNOWN if it is no worker */
	int64_t since_ns, seen_ns; /* as in t_doing */
	enum line_role role;
	/* indexes in line_samples.frames: of the user's innermost frame (or any), and of any */
	uint32_t frame, inner;
};

/* Lists processes with a known frame, without idle workers. The caller frees the array. */
int doing_read(struct db *db, const struct line_samples *samples, struct doing **ret,
	       size_t *ret_count);

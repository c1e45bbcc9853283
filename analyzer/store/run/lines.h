/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - reads from a database samples of lines of code, and where processes hang now. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/lines.h"
#include "store/database/db.h"

/* Reads the samples, up to a bound. Free them also after an error. Returns 0 or -errno (db.h). */
int lines_read(struct db *db, struct line_samples *ret);
/* Reads only the frames, which doing_read() needs. */
int lines_read_frames(struct db *db, struct line_samples *ret);
void lines_free(struct line_samples *samples);

/* Where a process was when its stack was last sampled. */
struct doing {
	int64_t pid, worker_id;    /* `worker_id` is UNKNOWN for other processes */
	int64_t since_ns, seen_ns; /* last record before, and last sample of this stack */
	enum line_role role;
	/* indices in line_samples.frames: the user's line, the innermost line */
	uint32_t frame, inner;
};

/*
 * Reads where processes are; free the array. `samples` has the frames. Leaves out processes without
 * a known frame, and workers that wait for their next task.
 */
int doing_read(struct db *db, const struct line_samples *samples, struct doing **ret,
	       size_t *ret_count);

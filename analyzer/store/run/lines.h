/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - reads samples of lines of code, and where processes are now, from a database. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/lines.h"
#include "store/database/db.h"

/* Reads all samples, up to a bound. Free them also after an error. 0 or -errno (db.h). */
int lines_read(struct db *db, struct line_samples *ret);
/* Reads the frames alone, which doing_read() needs. */
int lines_read_frames(struct db *db, struct line_samples *ret);
void lines_free(struct line_samples *samples);

/* Where a process was when it was last looked at. */
struct doing {
	int64_t pid, worker_id;    /* worker_id is UNKNOWN in other processes */
	int64_t since_ns, seen_ns; /* first and last time that the stack was seen to be this one */
	enum line_role role;
	uint32_t frame, inner; /* places in line_samples.frames: the user's line; the innermost */
};

/*
 * Reads where processes are; free the array. `samples` has the frames. Processes without a known
 * frame are left out, and workers that wait for their next task.
 */
int doing_read(struct db *db, const struct line_samples *samples, struct doing **ret,
	       size_t *ret_count);

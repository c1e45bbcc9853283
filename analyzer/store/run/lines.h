/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - samples of lines of code, and where processes are now, asked of a database. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/lines.h"
#include "store/database/db.h"

/* All of them, up to a bound. To be freed, also after an error. 0 or -errno (db.h). */
int lines_read(struct db *db, struct line_samples *ret);
/* ... without the stacks: what doing_read() needs. */
int lines_read_frames(struct db *db, struct line_samples *ret);
void lines_free(struct line_samples *samples);

/* Where a process was when it was last looked at. */
struct doing {
	int64_t pid, worker_id;    /* worker_id: QUERY_UNKNOWN: no worker */
	int64_t since_ns, seen_ns; /* its stack was the same from one to the other */
	enum line_role role;
	uint32_t frame, inner; /* places in line_samples.frames: its line, and the innermost */
};

/*
 * The array is to be freed; `samples` has the frames. Processes of whom no frame is known are left
 * out, and workers that wait for what to load next.
 */
int doing_read(struct db *db, const struct line_samples *samples, struct doing **ret,
	       size_t *ret_count);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h - how this process begins to record.
 *
 * STARTING -> IDLE (constructor done) -> ON or OFF. OFF is for good: it could not begin. A fork
 * child of a recording process is neither ON nor idle until a loader's wrapper starts it, which
 * joins it to its parent's run.
 */
#pragma once

#include <stdbool.h>

/*
 * Called when the constructor is done: start_recording() may work from now on. When this process,
 * or one forked from it, begins to record, `begins` is called before other threads record, and
 * `begun` after.
 */
void start_ready(void (*begins)(void), void (*begun)(void));

/* Begins to record unless this process does already or cannot. Returns whether it records. */
bool start_recording(void);

/* Whether this process, or one that it was forked from, ever began to record, or failed to. */
bool start_was_tried(void);

/* Whether this process itself did so, as far as that is known without a system call. */
bool start_has_end(void);

/* Whether another thread is in start_recording(). */
bool start_is_busy(void);

/* Why this process does not record although it should; NULL: it does, or nobody asked it to. */
const char *start_failure(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h - how this process begins to record.
 *
 * STARTING -> IDLE (constructor done) -> ON, or OFF for good if recording could not begin. A forked
 * child of a recording process is ON, but records nothing until a loader's wrapper calls
 * start_recording(), which joins the child to its parent's run.
 */
#pragma once

#include <stdbool.h>

/*
 * Notes that the constructor is done, so that start_recording() works from now on. When this
 * process or a forked child begins to record, `begins` is called before other threads record, and
 * `begun` after.
 */
void start_ready(void (*begins)(void), void (*begun)(void));

/* Begins to record, unless the process does already or cannot. Returns true if it records. */
bool start_recording(void);

/* Returns true if this process, or one that it was forked from, ever tried to record. */
bool start_was_tried(void);

/* Returns true if this process itself tried, as far as is known without a system call. */
bool start_has_end(void);

/* Returns true while another thread is in start_recording(). */
bool start_is_busy(void);

/* Returns why this process does not record though it should; NULL if it does, or need not. */
const char *start_failure(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h - how this process begins to record: STARTING, IDLE after the constructor, then ON or
 * OFF.
 *
 * A forked child is ON, but records only once start_recording() joined it to its parent's run.
 */
#pragma once

#include <stdbool.h>

/* Allows start_recording(), which calls `begins` before other threads can record, then `begun`. */
void start_ready(void (*begins)(void), void (*begun)(void));

bool start_recording(void);

/* Returns true if this process tried to record, or one that it was forked from. */
bool start_was_tried(void);

/* Returns true if this process itself tried, as far as that is known without a system call. */
bool start_has_end(void);

bool start_is_busy(void);

/* Says why the process does not record, or returns NULL if it does or need not. */
const char *start_failure(void);

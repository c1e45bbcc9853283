/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h - makes this process record. States: STARTING; IDLE after the constructor; ON or OFF.
 *
 * A forked child is ON from the start, but records only after its own start_recording().
 */
#pragma once

#include <stdbool.h>

/* Allows start_recording(). It calls `begins` before other threads can record, `begun` after. */
void start_ready(void (*begins)(void), void (*begun)(void));

bool start_recording(void);

/* Returns true if this process, or one from which it was forked, tried to record. */
bool start_was_tried(void);

/* Returns false in a forked child that has not tried to record: it has no end to note. */
bool start_has_end(void);

bool start_is_busy(void);

/* Returns why the process does not record; NULL: it records, or has no need to. */
const char *start_failure(void);

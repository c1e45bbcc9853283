/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - ends the program between two batches, as DLPROF_STOP_AFTER demands: without an
 * exception, which handlers of the program could catch, to save, test or go on.
 */
#pragma once

#include "base/config.h"

/* Sets the function to call before stop_now() ends the process; called by the constructor. */
void stop_ready(void (*finish)(void));

/*
 * Ends the program if it has had DLPROF_STOP_AFTER batches: flushes output, kills workers, and does
 * not return. Called with the GIL when the training thread is about to ask for a batch.
 */
void stop_now(void);

static inline void stop_look(void)
{
	if (unlikely(config.stop_after))
		stop_now();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - ends the program between two batches, as DLPROF_STOP_AFTER asks: without an exception,
 * so that no handler of the program's saves, tests or goes on.
 */
#pragma once

#include "base/config.h"

/* Sets the function to be called when the process ends so; called by the constructor. */
void stop_ready(void (*finish)(void));

/*
 * Ends the program if it had DLPROF_STOP_AFTER batches: flushes output, ends workers, and does not
 * return. Called with the GIL when the training's thread is about to ask for a batch.
 */
void stop_now(void);

static inline void stop_look(void)
{
	if (unlikely(config.stop_after))
		stop_now();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - end the program between two batches, as DLPROF_STOP_AFTER asks: without an exception, so
 * that no handler of the program's saves, tests or goes on.
 */
#pragma once

#include "base/config.h"

/* Called by the constructor; `finish` is called when the process ends so. */
void stop_ready(void (*finish)(void));

/*
 * Called with the GIL when the training's thread is about to ask for a batch. If it has had enough,
 * output is flushed, workers are ended, and this does not return.
 */
void stop_now(void);

static inline void stop_look(void)
{
	if (unlikely(config.stop_after))
		stop_now();
}

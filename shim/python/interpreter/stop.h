/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - end the program between two batches, where DLPROF_STOP_AFTER asks for it: without an
 * exception, so that no handler of the program's saves, tests or goes on.
 */
#pragma once

#include "base/config.h"

/* From the constructor: what is to be done at the end of a process. */
void stop_ready(void (*finish)(void));

/*
 * The training's thread is about to ask for a batch, with the GIL. Where it has had enough of them:
 * output is flushed, workers are ended, and this does not return.
 */
void stop_now(void);

static inline void stop_look(void)
{
	if (unlikely(config.stop_after))
		stop_now();
}

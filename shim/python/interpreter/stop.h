/* SPDX-License-Identifier: Apache-2.0 */
/* stop.h - ends the program after DLPROF_STOP_AFTER batches, without a catchable exception. */
#pragma once

#include "base/config.h"

/* Sets the function that is called before the process ends. The constructor calls this. */
void stop_ready(void (*finish)(void));

/* Ends the program after DLPROF_STOP_AFTER batches. Called with the GIL before each batch. */
void stop_now(void);

static inline void stop_look(void)
{
	if (unlikely(config.stop_after))
		stop_now();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* stop.h - ends the program after DLPROF_STOP_AFTER batches, without a catchable exception. */
#pragma once

#include "base/config.h"

/* Sets the function to call before the process ends; called by the constructor. */
void stop_ready(void (*finish)(void));

/* Called with the GIL before each batch; ends the program after DLPROF_STOP_AFTER of them. */
void stop_now(void);

static inline void stop_look(void)
{
	if (unlikely(config.stop_after))
		stop_now();
}

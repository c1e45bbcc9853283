/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manners.h - give way to another user of CUPTI in this process, such as torch.profiler.
 *
 * CUPTI has one place for the callbacks that give and take buffers, and one list of enabled kinds:
 * whoever comes last has them. The functions that they are set by are exported from here, so that
 * we see it; what the other user asked for is what happens. What is found by dlsym() is not seen.
 */
#ifndef CUDA_MANNERS_H
#define CUDA_MANNERS_H

#include <stdbool.h>
#include <stdint.h>

/* Somebody else has set callbacks and enabled kinds. */
bool manners_is_taken(void);

/* ... and has disabled them again, a moment ago. */
bool manners_is_free(uint64_t now_ns);

/* Sets their callbacks again, as they had them. */
void manners_restore(void);

/* Whether they changed CUPTI's clock since this was last asked. */
bool manners_take_clock_change(void);

/* How many of their buffers CUPTI has: our records may be in there. */
uint32_t manners_buffers_out(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - knows what this process records of CUDA, and who has CUPTI's buffers. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

enum state_mode {
	STATE_NONE, /* as far as we know, CUDA has not started */
	STATE_OFF,
	STATE_HOST,  /* the host's calls of libcudart are recorded */
	STATE_CUPTI, /* CUPTI records the GPU's operations */
};

/* Returns what this process records; STATE_NONE in a forked child. */
enum state_mode state_mode(void);

/* Sets the mode, and writes it to the meta table as "cuda_mode". */
void state_begin(enum state_mode mode);

void state_stand_down(const char *why);

/* Notes that the program uses CUDA. If CUDA has not called InitializeInjection(), it never will. */
void state_in_use(void);

bool state_lacks_device_sync(void);

void state_note(const char *key, const char *value);

/* Return true if CUPTI's buffers are ours (armed), or if they are another user's (yielded). */
bool state_is_armed(void);
bool state_is_yielded(void);
void state_arm(void);

/* Notes that another user takes CUPTI's buffers. Returns true if they were ours until now. */
bool state_yield(uint64_t now_ns);

/* Returns when another user took CUPTI's buffers; 0: they are not another user's now. */
uint64_t state_yielded_ns(void);
bool state_forget_yield(uint64_t yielded_ns); /* false: another user came after that time */

/* Wakes the writing thread. Any thread may call this, also in callbacks. */
void state_wake(void);

/* the futex of the writing thread, to which state_wake() adds 1 */
extern HIDDEN _Atomic uint32_t state_wakes;

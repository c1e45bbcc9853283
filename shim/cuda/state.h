/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what this process records of CUDA, and who has CUPTI's buffers. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

enum state_mode {
	STATE_NONE, /* CUDA has not started, as far as we know */
	STATE_OFF,
	STATE_HOST,  /* libcudart's calls are recorded */
	STATE_CUPTI, /* the GPU's operations are recorded */
};

/* Returns what this process records; STATE_NONE in a forked child. */
enum state_mode state_mode(void);

/* Sets the mode, and writes it to the meta table as "cuda_mode". */
void state_begin(enum state_mode mode);

void state_stand_down(const char *why);

/* Called when the program uses CUDA. If InitializeInjection() was not called, it never will be. */
void state_in_use(void);

bool state_lacks_device_sync(void);

void state_note(const char *key, const char *value);
void state_note_number(const char *key, int64_t value);

/* Return true if CUPTI's buffers are ours, or are another user's. */
bool state_is_armed(void);
bool state_is_yielded(void);
void state_arm(void);

/* Notes that another user takes the buffers. Returns true if they were ours before. */
bool state_yield(uint64_t now_ns);

/* Returns when another user took CUPTI's buffers; 0: none did, or they were regained. */
uint64_t state_yielded_ns(void);
bool state_forget_yield(uint64_t yielded_ns); /* false: another user has come since */

/* Wakes the writing thread. May be called from any thread, and in callbacks. */
void state_wake(void);

/* The writing thread's futex, which state_wake() counts up. */
extern HIDDEN _Atomic uint32_t state_wakes;

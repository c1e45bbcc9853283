/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what this process records of CUDA, who has CUPTI's buffers, and how to wake the writing
 * thread (writer.h). The rest of cuda/ builds on this.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

enum state_mode {
	STATE_NONE, /* CUDA has not started, as far as we know */
	STATE_OFF,
	STATE_HOST,  /* calls of libcudart are recorded (cudart.h) */
	STATE_CUPTI, /* the GPU's operations are recorded */
};

/* Returns this process's mode; in a forked child STATE_NONE, whatever the parent's mode is. */
enum state_mode state_mode(void);

/* Sets the mode, and the row "cuda_mode" of the meta table. */
void state_begin(enum state_mode mode);

/* Changes to recording the host's calls only, and notes why. */
void state_stand_down(const char *why);

/* Notes that CUDA is in use: if it has not called InitializeInjection() by now, it will not. */
void state_in_use(void);

/* Returns true if this CUPTI does not record synchronisations of devices. */
bool state_lacks_device_sync(void);

/* Write rows of the meta table. */
void state_note(const char *key, const char *value);
void state_note_number(const char *key, int64_t value);

/* Returns true if CUPTI's buffers are ours; state_is_yielded(): if they are another user's. */
bool state_is_armed(void);
bool state_is_yielded(void);
void state_arm(void);

/* Notes that another user takes the buffers. Returns true if they were ours before. */
bool state_yield(uint64_t now_ns);

/* Returns when another user took the buffers; 0 if none did, or all of ours came back since. */
uint64_t state_yielded_ns(void);
bool state_forget_yield(uint64_t yielded_ns); /* false: another user has come since */

/* Wakes the writing thread; may be called from any thread and in a callback. */
void state_wake(void);

/* The writing thread's futex, which state_wake() counts up. */
extern HIDDEN _Atomic uint32_t state_wakes;

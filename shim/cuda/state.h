/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what of CUDA this process records, who has CUPTI's buffers, and how the writing thread
 * (writer.h) is woken. The rest of cuda/ stands on this.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

enum state_mode {
	STATE_NONE, /* CUDA has not come up, as far as we know */
	STATE_OFF,
	STATE_HOST,  /* calls of libcudart (cudart.h) */
	STATE_CUPTI, /* what the GPU did */
};

/* Of this process, not of the one that it was forked from. */
enum state_mode state_mode(void);

/* Sets it, and the row "cuda_mode" of the meta table. */
void state_begin(enum state_mode mode);

/* Only the host's side is recorded, and why. */
void state_stand_down(const char *why);

/* CUDA is in use. If it did not call us, we will see no more of it. */
void state_in_use(void);

/* CUPTI leaves out the synchronisation of devices. */
bool state_lacks_device_sync(void);

/* Rows of the meta table. */
void state_note(const char *key, const char *value);
void state_note_number(const char *key, int64_t value);

/* CUPTI's buffers are ours; ... are another user's since state_yielded_ns(); or neither. */
bool state_is_armed(void);
bool state_is_yielded(void);
void state_arm(void);

/* Another user takes them. True: they were ours until now. */
bool state_yield(uint64_t now_ns);

/* 0: nobody had them, or all they had of ours came back. */
uint64_t state_yielded_ns(void);
bool state_forget_yield(uint64_t yielded_ns); /* false: somebody has come since then */

/* The writing thread has something to do. From any thread, also in a callback. */
void state_wake(void);

/* Its futex, which state_wake() counts up. */
extern HIDDEN _Atomic uint32_t state_wakes;

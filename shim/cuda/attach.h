/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h - how CUDA comes to call us, and what is seen of it.
 *
 * The constructor names this library in CUDA_INJECTION64_PATH; cuInit() then loads it (it is there
 * already) and calls InitializeInjection(), before the first context. Where that is another tool's,
 * or CUPTI is, or there is none, only the host's side is recorded (cudart.c), and the meta table
 * says why. A forked child never calls CUPTI: it hangs there.
 */
#ifndef CUDA_ATTACH_H
#define CUDA_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#define ATTACH_PERIOD_MS 1000 /* CUPTI is asked for its buffers this often */

enum attach_mode {
	ATTACH_NONE, /* CUDA has not come up, as far as we know */
	ATTACH_OFF,
	ATTACH_HOST,
	ATTACH_CUPTI,
};

/* From the constructor: no more than the variable. */
void attach_prepare(void);

/* This process begins to record. */
void attach_begin(void);

/* It ends: what CUPTI still has is fetched, for two seconds at most. */
void attach_finish(void);

/* Of this process, not of the one that it was forked from. */
enum attach_mode attach_mode(void);

/* CUDA is in use, and did not call us. */
void attach_host(void);

/* For the writing thread: there is something to do. From any thread, also in a callback. */
void attach_wake(void);

/* CUPTI leaves out the synchronisation of devices. */
bool attach_lacks_device_sync(void);

/*
 * Somebody else takes CUPTI's buffers from now on: our kinds are disabled, but for those in `keep`
 * (bits), and nothing is known of the GPU until manners_is_free(). On the thread of that somebody.
 */
void attach_yield(uint64_t keep);

bool attach_is_yielded(void);

/* CUPTI's clock is about to be another one, and then may be. */
void attach_clock_changes(void);
void attach_clock_changed(void);

#endif

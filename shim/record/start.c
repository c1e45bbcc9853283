/* SPDX-License-Identifier: Apache-2.0 */
#include "record/start.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/text.h"
#include "record/activate.h"
#include "record/run.h"
#include "record/thread.h"

enum state {
	STATE_STARTING,
	STATE_IDLE,
	STATE_ON,
	STATE_OFF,
	STATE_BUSY = 8, /* a thread starts recording now; its process's pid is in the higher bits */
};

static _Atomic uint32_t state NEAR = STATE_STARTING;
static char failure[512];
static int failure_pid;

static void (*on_begins)(void) NEAR = NULL;
static void (*on_begun)(void) NEAR = NULL;

void start_ready(void (*begins)(void), void (*begun)(void))
{
	on_begins = begins;
	on_begun = begun;
	atomic_store(&state, STATE_IDLE);
}

static uint32_t own_busy(void)
{
	return STATE_BUSY | (uint32_t)sys_getpid() << 4;
}

bool start_was_tried(void)
{
	return atomic_load(&state) >= STATE_ON;
}

bool start_has_end(void)
{
	return atomic_load(&state) != STATE_ON || activate_on();
}

bool start_is_busy(void)
{
	return atomic_load(&state) & STATE_BUSY;
}

const char *start_failure(void)
{
	return failure[0] && failure_pid == sys_getpid() ? failure : NULL;
}

static bool start_from(uint32_t from)
{
	struct text why;
	int r;

	/* One thread makes the process record. Others record from their next operation on. */
	if (!atomic_compare_exchange_strong(&state, &from, own_busy()))
		return false;
	text_init(&why, failure, sizeof(failure));
	r = activate_prepare();
	if (r < 0) {
		text_add(&why, "cannot tell forked children apart: ");
		text_add(&why, text_error(r));
	} else if ((r = thread_begin_life()) < 0) {
		text_add(&why, text_error(r));
	} else {
		clock_begin();
		r = from == STATE_ON ? run_rejoin(&why) : run_begin(&why);
		/* With detail `all`, each operation is recorded, however short. */
		clock_limit(config.detail == CONFIG_DETAIL_ALL ? 0 : config.slow_ns);
	}
	if (r < 0) {
		failure_pid = sys_getpid();
		atomic_store(&state, STATE_OFF);
		log_line("not recording", failure);
		return false;
	}
	if (on_begins)
		on_begins();
	activate_set(thread_life);
	atomic_store(&state, STATE_ON);
	if (on_begun)
		on_begun();
	return true;
}

bool start_recording(void)
{
	uint32_t before;

	if (likely(activate_on()))
		return true;
	before = atomic_load(&state);
	/* If a thread of the parent was starting to record at the fork, begin anew here. */
	if ((before & STATE_BUSY) && before != own_busy())
		atomic_compare_exchange_strong(&state, &before, STATE_IDLE);
	switch (atomic_load(&state)) {
	case STATE_IDLE:
		return start_from(STATE_IDLE);
	case STATE_ON:
		return start_from(STATE_ON);
	default:
		return false;
	}
}

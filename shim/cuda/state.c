/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/state.h"

#include <linux/futex.h>

#include "base/clock.h"
#include "base/note.h"
#include "cuda/cupti.h"

enum armed {
	ARMED_NO,
	ARMED_YES,
	ARMED_YIELDED,
};

_Atomic uint32_t state_wakes;

static struct {
	_Atomic int pid;       /* pid of the process of which this is the state; 0: none yet */
	_Atomic uint32_t mode;
	_Atomic uint32_t armed;
	_Atomic uint64_t yielded_ns;
} own;

enum state_mode state_mode(void)
{
	int pid = own.pid;

	return pid && pid == sys_getpid() ? (enum state_mode)own.mode : STATE_NONE;
}

void state_note(const char *key, const char *value)
{
	note_format('m', "%s %s", key, value);
}

void state_begin(enum state_mode mode)
{
	static const char *const names[] = {
		[STATE_OFF] = "off", [STATE_HOST] = "cudart", [STATE_CUPTI] = "cupti"};

	own.mode = mode;
	own.pid = sys_getpid();
	state_note("cuda_mode", names[mode]);
}

void state_stand_down(const char *why)
{
	state_begin(STATE_HOST);
	state_note("cuda_reason", why);
}

void state_in_use(void)
{
	if (state_mode() == STATE_NONE)
		state_stand_down("CUDA did not load dlprof when it came up");
}

bool state_lacks_device_sync(void)
{
	return state_mode() == STATE_CUPTI && cupti.version == CUPTI_VERSION_13_0;
}

bool state_is_armed(void)
{
	return own.armed == ARMED_YES;
}

bool state_is_yielded(void)
{
	return own.armed == ARMED_YIELDED;
}

void state_arm(void)
{
	own.armed = ARMED_YES;
}

bool state_yield(uint64_t now_ns)
{
	const uint32_t before = atomic_exchange(&own.armed, ARMED_YIELDED);

	if (before != ARMED_YIELDED)
		own.yielded_ns = now_ns;
	return before == ARMED_YES;
}

uint64_t state_yielded_ns(void)
{
	return own.yielded_ns;
}

bool state_forget_yield(uint64_t yielded_ns)
{
	return atomic_compare_exchange_strong(&own.yielded_ns, &yielded_ns, 0);
}

void state_wake(void)
{
	atomic_fetch_add(&state_wakes, 1);
	sys_call3(SYS_futex, &state_wakes, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

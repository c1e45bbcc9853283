/* SPDX-License-Identifier: Apache-2.0 */
#include "record/activate.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/text.h"
#include "record/run.h"
#include "record/thread.h"

enum state {
	STATE_STARTING,
	STATE_IDLE,
	STATE_ON,
	STATE_OFF,
	STATE_BUSY = 8, /* a thread is activating; with the process's pid above it */
};

static const volatile uint32_t cell_off;
const volatile uint32_t *activate_cell = &cell_off;

bool activate_unwiped NEAR = false;

static _Atomic uint32_t state NEAR = STATE_STARTING;
static volatile uint32_t *cell_page;
static int cell_pid;
static char failure[512];
static int failure_pid;

static void (*on_begins)(void) NEAR = NULL;
static void (*on_begun)(void) NEAR = NULL;

void activate_ready(void (*begins)(void), void (*begun)(void))
{
	on_begins = begins;
	on_begun = begun;
	atomic_store(&state, STATE_IDLE);
}

static uint32_t own_busy(void)
{
	return STATE_BUSY | (uint32_t)sys_getpid() << 4;
}

bool activate_tried(void)
{
	return atomic_load(&state) >= STATE_ON;
}

bool activate_busy(void)
{
	return atomic_load(&state) & STATE_BUSY;
}

const char *activate_failure(void)
{
	/* A forked child has its parent's memory, not its failure. */
	return failure[0] && failure_pid == sys_getpid() ? failure : NULL;
}

static int make_cell(void)
{
	void *page;

	if (cell_page)
		return 0;
	page = sys_mmap(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (sys_mmap_failed(page))
		return (int)(long)page;
	activate_unwiped = sys_call3(SYS_madvise, page, 4096, MADV_WIPEONFORK) < 0;
	cell_page = page;
	return 0;
}

/* Its memory is its own here, as a vfork child's is not, for which libc calls nobody. */
void activate_forked(void)
{
	if (activate_unwiped)
		*cell_page = 0;
}

bool activate_is_own(void)
{
	return cell_pid == sys_getpid();
}

static bool activate_as(uint32_t from)
{
	struct text why;
	int r;

	/* One thread activates; the others record from their next operation on. */
	if (!atomic_compare_exchange_strong(&state, &from, own_busy()))
		return false;
	text_init(&why, failure, sizeof(failure));
	r = make_cell();
	if (r < 0) {
		text_add(&why, "cannot tell forked children apart: ");
		text_add(&why, text_error(r));
	} else {
		thread_life++;
		clock_begin();
		r = from == STATE_ON ? run_rejoin(&why) : run_begin(&why);
		clock_limit(config.slow_ns);
	}
	if (r < 0) {
		failure_pid = sys_getpid();
		atomic_store(&state, STATE_OFF);
		log_line("not recording", failure);
		return false;
	}
	if (on_begins)
		on_begins();
	cell_pid = sys_getpid();
	__atomic_store_n(cell_page, thread_life, __ATOMIC_RELEASE);
	__atomic_store_n(&activate_cell, cell_page, __ATOMIC_RELEASE);
	atomic_store(&state, STATE_ON);
	if (on_begun)
		on_begun();
	return true;
}

bool activate(void)
{
	uint32_t before;

	if (likely(activate_on()))
		return true;
	before = atomic_load(&state);
	/* Forked while another thread was in here: that one is gone. */
	if ((before & STATE_BUSY) && before != own_busy())
		atomic_compare_exchange_strong(&state, &before, STATE_IDLE);
	switch (atomic_load(&state)) {
	case STATE_IDLE:
		return activate_as(STATE_IDLE);
	case STATE_ON:
		return activate_as(STATE_ON);
	default:
		return false;
	}
}

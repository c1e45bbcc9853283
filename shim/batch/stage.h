/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - counts and times the stages of a loader's pipeline, in frameworks that run them on
 * threads.
 *
 * Every call is counted. If a stage's calls are short on average, only some are timed, chosen at
 * random, and each stands for several calls. The estimated times are unbiased.
 *
 * Time is cut into windows. Each stage called in a window gets a record. Windows grow longer, so a
 * day has a few thousand windows.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"

#define STAGE_MAX     128
#define STAGE_PATH    192 /* stages with longer paths are not recorded */
#define STAGE_NONE    0
#define STAGE_UNNAMED UINT16_MAX /* the stage becomes known at the object's first call */

/*
 * Sums, as in struct dlprof_stage_sum. OWN and READ may fall, as estimates for inner calls are
 * taken off. TIMED is the time, and CPU the CPU time, of the calls whose CPU time was read. Each
 * such call stands for several calls, and its times are multiplied by their number.
 */
enum {
	STAGE_ELEMENTS,
	STAGE_BUSY,
	STAGE_OWN,
	STAGE_TIMED,
	STAGE_CPU,
	STAGE_READ,
	STAGE_READY,
	STAGE_SUM_MAX
};

/*
 * A thread's sums of a stage. Only that thread writes them. One call of each round is timed, and
 * counts for all calls of the round.
 */
struct stage_sums {
	alignas(64) _Atomic uint64_t values[STAGE_SUM_MAX];
	uint8_t round;     /* number of calls in the next timed call's round; 0: none was timed */
	uint8_t after;     /* number of that round's calls after the timed one */
	uint8_t left;      /* number of calls until the next timed one */
	uint32_t mean_ns;  /* mean length of recent timed calls */
};

struct stage_call {
	struct stage_sums *sums;
	uint32_t number;
	uint32_t weight; /* calls for which this call counts; 0: untimed, and the rest is unset */
	struct stage_call *outer; /* the timed call around this call; NULL: unknown */
	uintptr_t address;
	uint64_t begin_ticks;
	uint64_t inner_ticks; /* time of calls inside this call, partly estimated */
	uint64_t read_ns;
	uint64_t inner_read_ns;
	uint64_t cpu_ns;     /* the thread's CPU time before this call */
	uint32_t cpu_weight; /* number of calls for which cpu_ns counts; 0: it was not read */
	uint32_t outer_untimed;
	uint32_t life;
};

/* What the framework tells about a stage; -1: unknown. */
struct stage_facts {
	uint32_t flags;
	int32_t parallel, capacity, threads;
};

/*
 * Returns the number of the stage at `path`, which begins with the stage that the training calls,
 * or STAGE_NONE if there is no room. `within`: for a kernel, the stage that calls it.
 */
uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within);

/* Returns the number of the object's stage, or STAGE_NONE if it has none. Takes no lock. */
uint16_t stage_of(const void *object);

void stage_put(const void *object, uint16_t number);
void stage_forget(const void *object);

static inline bool stage_is_named(uint32_t number)
{
	return likely(number) && likely(number != STAGE_UNNAMED);
}

/*
 * Begin a call of an object. Call stage_end() later, unless the result is STAGE_NONE or
 * STAGE_UNNAMED. stage_begin_leaf() is for calls in which no other stage is called: if such a call
 * is not timed, it is counted at once, and the result is STAGE_NONE.
 */
uint16_t stage_begin(struct stage_call *call, const void *object);
uint16_t stage_begin_leaf(struct stage_call *call, const void *object);
/* Begins an object's first call, which is timed, but not counted if `number` is STAGE_NONE. */
void stage_begin_first(struct stage_call *call, uint16_t number);
/* Begins a leaf whose struct is not on the stack. `address` is in the stack frame of the call. */
uint16_t stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address)
	__attribute__((noinline));
void stage_end_timed(struct stage_call *call);
void stage_count_queues(uint32_t number);

/* For each stage, the numbers of the queues that its elements leave and enter; STAGE_NONE: none. */
struct stage_queues {
	uint8_t out, in;
};
extern HIDDEN struct stage_queues stage_queues[1 + STAGE_MAX];

static inline void stage_add(_Atomic uint64_t *sum, uint64_t what)
{
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + what,
			      memory_order_relaxed);
}

static inline void stage_count(const struct stage_call *call)
{
	stage_add(&call->sums->values[STAGE_ELEMENTS], 1);
	if (unlikely(stage_queues[call->number].out | stage_queues[call->number].in))
		stage_count_queues(call->number);
}

extern HIDDEN __thread struct stage_self {
	/* The innermost timed call. Its address tells whether an exception has ended it. */
	struct stage_call *top;
	uintptr_t top_address;
	struct ledger *ledger;
	uint32_t life;    /* thread_life when the thread took the ledger */
	uint32_t untimed; /* untimed calls inside `top` that have not yet come to stage_end() */
} stage_self __attribute__((tls_model("initial-exec")));

static inline void stage_end(struct stage_call *call, bool has_element)
{
	if (has_element)
		stage_count(call);
	if (unlikely(call->weight))
		stage_end_timed(call);
	else
		stage_self.untimed--;
}

/* Returns true if this thread is inside a timed call of a kernel, or a call of STAGE_NONE. */
bool stage_is_inside(void);

/* Returns the stage whose call this thread is in, or STAGE_NONE if that call is not timed. */
uint16_t stage_current(void);

/* Counts the queue of this stage as empty, because a new iterator of the stage begins. */
void stage_empty(uint16_t number);

/* Returns true if loaders of this kind ("tf.data") have stages. */
bool stage_is_kind(const char *kind);

/* Called at each next() of a loader. Writes sums of the stages if they cover a long enough time. */
void stage_asked(uint32_t loader, uint64_t stream, uint32_t generation);

void stage_finish(void);

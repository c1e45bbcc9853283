/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - times the stages of a loader's pipeline, in frameworks that run them on threads.
 *
 * A stage is known by its path in the pipeline, and by the objects that stand for it now. Each of
 * its calls is timed; the sums over a window of time become a record for each stage that did
 * anything. Windows get longer in a long run: a day has some thousand of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STAGE_MAX      128
#define STAGE_PATH     192 /* bytes of a path; a stage with a longer one is not recorded */
#define STAGE_NONE     0   /* no stage: numbers begin at 1 */
#define STAGE_UNNAMED  UINT16_MAX /* an object whose stage its first call will find */

/* A call of a stage, on the stack of its caller. */
struct stage_call {
	struct stage_call *outer; /* the call around it on this thread; NULL: none is known */
	uintptr_t address;	/* its address on the stack */
	uint64_t begin_ticks;
	uint64_t inner_ticks;	/* time of calls within this one */
	uint64_t read_ns;	/* read time of the thread before this call */
	uint64_t inner_read_ns;
	uint64_t cpu_ns;	/* CPU time before this call; 0: not measured */
	uint32_t life;
	uint32_t number;
	bool is_kernel;
	bool is_leaf;		/* no call was made within this one */
};

/* Facts of a stage that the framework knows; -1: not known. */
struct stage_facts {
	uint32_t flags; /* bits of enum dlprof_stage_flag */
	int32_t parallel, capacity, threads;
};

/*
 * Returns the number of the stage of this path, made on first use. A path has components with "::"
 * between, that of the stage nearest to the training first. `within` is the number of the stage
 * that calls a kernel, if known. STAGE_NONE: there is no room.
 */
uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within);

/* Returns the stage that an object stands for, or STAGE_NONE. Takes no lock. */
uint16_t stage_of(const void *object);

/* Lets an object stand for a stage, until stage_forget(). */
void stage_put(const void *object, uint16_t number);
void stage_forget(const void *object);

/* Begins a call of a stage, until stage_end(). STAGE_NONE is not counted, but calls in it are. */
void stage_begin(struct stage_call *call, uint16_t number);
/* Begins a call whose struct lies elsewhere, and whose frame is at `address` of the stack. */
void stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address);
void stage_end(struct stage_call *call, bool has_element);

/* Whether this thread is within a call of a kernel, or of STAGE_NONE. */
bool stage_is_inside(void);

/* Returns the stage whose call this thread is in, or STAGE_NONE. */
uint16_t stage_current(void);

/* Empties a queue that is a stage, as its iterator begins anew. */
void stage_empty(uint16_t number);

/* Whether a loader of this kind is made of stages. */
bool stage_is_kind(const char *kind);

/* Notes that a loader is asked for a batch of this epoch; records a window if it is due. */
void stage_asked(uint32_t loader, uint64_t stream, uint32_t generation);

/* Records the last window at the process's end. */
void stage_finish(void);

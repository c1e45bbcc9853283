/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - times the stages of a loader's pipeline, in frameworks that run them on threads.
 *
 * A stage is identified by its path in the pipeline, and by the objects that implement it now. Each
 * of its calls is timed; the sums over a window of time become one record per stage that was
 * called. Windows get longer in a long run: a day has a few thousand of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STAGE_MAX      128
#define STAGE_PATH     192 /* bytes of a path; a stage with a longer one is not recorded */
#define STAGE_NONE     0   /* no stage: numbers begin at 1 */
#define STAGE_UNNAMED  UINT16_MAX /* an object whose stage is found at its first call */

/* A call of a stage in progress, on the stack of the wrapper. */
struct stage_call {
	struct stage_call *outer; /* the call around it on this thread; NULL: none is known */
	uintptr_t address;	/* its address on the stack */
	uint64_t begin_ticks;
	uint64_t inner_ticks;	/* time of the calls within this one */
	uint64_t read_ns;	/* read time of the thread before this call */
	uint64_t inner_read_ns;
	uint64_t cpu_ns;	/* CPU time before this call; 0: not measured */
	uint32_t life;
	uint32_t number;
	bool is_kernel;
	bool is_leaf;		/* no call was made within this one so far */
};

/* Facts of a stage that the framework knows; -1: not known. */
struct stage_facts {
	uint32_t flags; /* bits of enum dlprof_stage_flag */
	int32_t parallel, capacity, threads;
};

/*
 * Returns the number of the stage with this path, made on first use, or STAGE_NONE if there is no
 * room. A path has components with "::" between, the stage nearest to the training first. `within`:
 * number of the stage that calls a kernel, if known.
 */
uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within);

/* Returns the number of the stage that an object implements, or STAGE_NONE. Takes no lock. */
uint16_t stage_of(const void *object);

/* Notes that an object implements stage `number`, until stage_forget(). */
void stage_put(const void *object, uint16_t number);
void stage_forget(const void *object);

/* Begins a call, until stage_end(). STAGE_NONE is not counted, but calls within it are. */
void stage_begin(struct stage_call *call, uint16_t number);
/* Begins a call whose struct is not on the stack; `address` is that of its stack frame. */
void stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address);
void stage_end(struct stage_call *call, bool has_element);

/* Returns true if this thread is in a call of a kernel or of STAGE_NONE. */
bool stage_is_inside(void);

/* Returns the stage whose call this thread is in, or STAGE_NONE. */
uint16_t stage_current(void);

/* Sets the queue of a stage to empty, as its iterator begins anew. */
void stage_empty(uint16_t number);

/* Returns true if loaders of this kind, such as "tf.data", are made of stages. */
bool stage_is_kind(const char *kind);

/* Notes that a loader is asked for a batch of this epoch, and records the window when it is due. */
void stage_asked(uint32_t loader, uint64_t stream, uint32_t generation);

/* Records the last window at the process's end. */
void stage_finish(void);

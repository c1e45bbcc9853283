/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - times the stages of a loader's pipeline, in frameworks that run them on threads.
 *
 * Time is cut into windows. Each stage called in a window gets a record. Windows grow longer, so a
 * day has a few thousand windows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STAGE_MAX      128
#define STAGE_PATH     192 /* stages with longer paths are not recorded */
#define STAGE_NONE     0
#define STAGE_UNNAMED  UINT16_MAX /* the stage becomes known at the object's first call */

struct stage_call {
	struct stage_call *outer; /* this thread's next outer call; NULL: unknown */
	uintptr_t address;
	uint64_t begin_ticks;
	uint64_t inner_ticks;
	uint64_t read_ns;
	uint64_t inner_read_ns;
	uint64_t cpu_ns;	/* CPU time before this call; 0: not measured */
	uint32_t life;
	uint32_t number;
	bool is_kernel;
	bool is_leaf;
};

/* Facts that the framework knows; -1: unknown. */
struct stage_facts {
	uint32_t flags;
	int32_t parallel, capacity, threads;
};

/*
 * Returns the number of the stage at `path`, which begins with the stage that the training calls,
 * or STAGE_NONE if there is no room. `within` is the stage that calls a kernel.
 */
uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within);

/* Returns the number of the object's stage, or STAGE_NONE if it has none. Takes no lock. */
uint16_t stage_of(const void *object);

void stage_put(const void *object, uint16_t number);
void stage_forget(const void *object);

/* Begins to time a call. A call of STAGE_NONE is not counted, but calls within it are. */
void stage_begin(struct stage_call *call, uint16_t number);
/* The same if *call is not on the stack: `address` lies in the stack frame of the caller. */
void stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address);
void stage_end(struct stage_call *call, bool has_element);

/* Returns true if this thread is inside a call of a kernel or of STAGE_NONE. */
bool stage_is_inside(void);

/* Returns the stage whose call this thread is in, or STAGE_NONE. */
uint16_t stage_current(void);

/* Notes that the queue is empty, because its iterator starts again. */
void stage_empty(uint16_t number);

/* Returns true if loaders of this kind ("tf.data") have stages. */
bool stage_is_kind(const char *kind);

/* Called when a loader is asked. Writes the records of the window if it is over. */
void stage_asked(uint32_t loader, uint64_t stream, uint32_t generation);

void stage_finish(void);

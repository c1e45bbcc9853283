/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - what the stages of a loader's pipeline do, where a framework has threads for them.
 *
 * A stage is known by its path in the pipeline, and by the objects that stand for it just now. Each
 * call of it is timed; the sums of a window of time become a record for each stage that did
 * anything. Windows become longer as the run does: a day makes some thousand of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STAGE_MAX      128
#define STAGE_PATH     192 /* bytes; a longer path is not recorded */
#define STAGE_NONE     0   /* numbers begin at 1 */
#define STAGE_UNNAMED  UINT16_MAX /* an object whose stage is to be found at its first call */

/* A call of a stage; lies on the stack of whoever makes it. */
struct stage_call {
	struct stage_call *outer; /* the call of this thread around it; NULL: none that is known */
	uintptr_t address;	/* where on the stack it is */
	uint64_t begin_ticks;
	uint64_t inner_ticks;	/* of the calls within it */
	uint64_t read_ns;	/* when it began: what the thread had read in all */
	uint64_t inner_read_ns;
	uint64_t cpu_ns;	/* when it began; 0: is not measured */
	uint32_t life;
	uint32_t number;
	bool is_kernel;
	bool is_leaf;		/* no other call was made within it */
};

/* What the framework knows of a stage; -1: it does not. */
struct stage_facts {
	uint32_t flags; /* enum dlprof_stage_flag */
	int32_t parallel, capacity, threads;
};

/*
 * The number of the stage of this path, made on first use: components with "::" between, the one
 * that the training asks first. `within`: the number of the stage that calls a kernel, if that is
 * known. STAGE_NONE: there is no room.
 */
uint16_t stage_number(const char *path, const struct stage_facts *facts, uint16_t within);

/* The stage that an object stands for, STAGE_NONE if for none. Without a lock. */
uint16_t stage_of(const void *object);

/* From now on the object stands for the stage; until it is forgotten. */
void stage_put(const void *object, uint16_t number);
void stage_forget(const void *object);

/* Around a call of a stage. STAGE_NONE may begin, too: it is not counted, and others lie in it. */
void stage_begin(struct stage_call *call, uint16_t number);
/* The same of a call whose state lies elsewhere, and which is at this address of the stack. */
void stage_begin_at(struct stage_call *call, uint16_t number, uintptr_t address);
void stage_end(struct stage_call *call, bool has_element);

/* Whether this thread is within a call of a kernel, or of STAGE_NONE. */
bool stage_is_inside(void);

/* The stage whose call this thread is in; STAGE_NONE. */
uint16_t stage_current(void);

/* A queue that is a stage begins anew, empty. */
void stage_empty(uint16_t number);

/* Whether a loader of this kind is made of stages. */
bool stage_is_kind(const char *kind);

/* A loader made of stages is asked for a batch of this epoch: records what is due. */
void stage_asked(uint32_t loader, uint64_t stream, uint32_t generation);

/* The process ends: records what is left. */
void stage_finish(void);

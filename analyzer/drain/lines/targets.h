/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the processes of a run whose Python stacks may be sampled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/python/python.h"
#include "drain/segments/segment.h"

#define TARGET_ASKERS 2 /* most threads sampled because they take batches */

struct target {
	int32_t pid; /* the process's pid, as its records name it */
	uint64_t start_ticks;
	uint64_t begun_ns;       /* when the life of the process began (see struct life) */
	struct segment *segment; /* NULL: the process is gone */
	struct python *python;
	enum reason reason; /* why this process's lines of code are not observed */
	uint64_t open_ns;   /* when to look for the interpreter again */
	int tries;
	uint32_t askers[TARGET_ASKERS];
	uint64_t due_ns, looked_ns; /* next and last sampling of the threads that take batches */
	uint64_t loaded_ns;
	uint64_t ended_ns;  /* when the last epoch ended */
	uint32_t ended_tid; /* the thread that ended it; 0: a batch has been asked for since then */
	uint64_t moved_ns;
	uint64_t seen_ns, told_ns; /* last sampling of a stack, last note of being stuck */
	uint32_t stack;            /* last sampled; SEEN_NONE: none, or worker waited for a task */
	bool is_told;
};

struct targets {
	struct target *list; /* entries without a segment are free */
	size_t count;
	enum reason reason; /* the reason of the first process whose lines are not observed */
	bool is_observed;
};

void targets_done(struct targets *targets);

void targets_follow(struct targets *targets, struct segment *const *segments, size_t count);

/* Finds the target of process `pid`, as records name it; NULL: there is none. */
struct target *targets_find(const struct targets *targets, int32_t pid);

bool target_trains(const struct target *target);
bool target_loads(const struct target *target);

void target_note_asker(struct target *target, uint32_t tid);

/* Looks for the interpreter if that is due. Returns true if the interpreter is known. */
bool target_open(struct targets *targets, struct target *target, uint64_t now_ns);

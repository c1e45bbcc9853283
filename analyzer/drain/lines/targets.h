/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - knows the processes of a run whose Python stacks may be sampled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/python/python.h"
#include "drain/segments/segment.h"

#define TARGET_ASKERS 2 /* most threads of a process that are sampled because they take batches */

struct target {
	int32_t pid; /* process id in its records */
	uint64_t start_ticks;
	uint64_t begun_ns;       /* start of the process's life: see struct life */
	struct segment *segment; /* NULL: the process is gone */
	struct python *python;
	enum reason reason; /* why the process's lines are not observed */
	uint64_t open_ns;   /* when to look for the interpreter again */
	int tries;
	uint32_t askers[TARGET_ASKERS];
	uint64_t due_ns, looked_ns; /* next and last sampling of the threads that take batches */
	uint64_t loaded_ns;
	uint64_t moved_ns;
	uint64_t seen_ns, told_ns; /* when a stack was last sampled, and last noted as stuck */
	uint32_t stack; /* last sampled stack; SEEN_NONE: none, or the worker waited for a task */
	bool is_told;
};

struct targets {
	struct target *list; /* an entry without a segment is free */
	size_t count;
	enum reason reason; /* why the first process without observed lines has none */
	bool is_observed;
};

void targets_done(struct targets *targets);

void targets_follow(struct targets *targets, struct segment *const *segments, size_t count);

/* Finds the target of process `pid`, as records name it. Returns NULL if it is no target. */
struct target *targets_find(const struct targets *targets, int32_t pid);

bool target_trains(const struct target *target);
bool target_loads(const struct target *target);

void target_note_asker(struct target *target, uint32_t tid);

/* Looks for the interpreter, if a look is due. Returns true if the interpreter is known. */
bool target_open(struct targets *targets, struct target *target, uint64_t now_ns);

/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the processes of a run whose lines of code can be looked at. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/python/python.h"
#include "drain/segments/segment.h"

#define TARGET_ASKERS 2 /* threads of a process that take batches */

/* One process of the run that trains or loads. */
struct target {
	int32_t pid; /* as its records have it */
	uint64_t start_ticks;
	uint64_t begun_ns;       /* the program that it is: see struct life */
	struct segment *segment; /* NULL: it is gone */
	struct python *python;
	enum reason reason; /* why it is not observed */
	uint64_t open_ns;   /* when to look for its interpreter (again) */
	int tries;
	uint32_t askers[TARGET_ASKERS];
	uint64_t due_ns, looked_ns; /* of a process that trains */
	uint64_t loaded_ns; /* the end of its last load */
	uint64_t moved_ns;          /* its last record */
	uint64_t seen_ns, told_ns;  /* when its stack was looked at, and told last */
	uint32_t stack;             /* of its first thread then; SEEN_NONE: it idles */
	bool is_told;
};

struct targets {
	struct target *list; /* those without a segment are places that are free */
	size_t count;
	enum reason reason; /* why a process was not observed, the first that was not */
	bool is_observed;   /* one was */
};

void targets_done(struct targets *targets);

/* These are the run's processes from now on. */
void targets_follow(struct targets *targets, struct segment *const *segments, size_t count);

/* The process of that number, as records have it; NULL: it is not there. */
struct target *targets_find(const struct targets *targets, int32_t pid);

bool target_trains(const struct target *target); /* a thread of it takes batches */
bool target_loads(const struct target *target);  /* it is a worker */

/* The thread takes batches. */
void target_note_asker(struct target *target, uint32_t tid);

/* Finds its interpreter, if it is time for a try. Whether it is observed. */
bool target_open(struct targets *targets, struct target *target, uint64_t now_ns);

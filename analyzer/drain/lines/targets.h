/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - the processes of a run whose lines of code may be looked at. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/python/python.h"
#include "drain/segments/segment.h"

#define TARGET_ASKERS 2 /* threads of a process that take batches */

/* One process of the run that trains or loads. */
struct target {
	int32_t pid; /* number in its records */
	uint64_t start_ticks;
	uint64_t begun_ns;       /* begin of its program: see struct life */
	struct segment *segment; /* NULL: the process is gone */
	struct python *python;
	enum reason reason; /* why its lines are not observed */
	uint64_t open_ns;   /* when to look for its interpreter (again) */
	int tries;
	uint32_t askers[TARGET_ASKERS];
	uint64_t due_ns, looked_ns; /* for a process that trains */
	uint64_t loaded_ns; /* end of its last load */
	uint64_t moved_ns;          /* time of its last record */
	uint64_t seen_ns, told_ns;  /* when its stack was looked at, and when that was told */
	uint32_t stack;             /* stack of its first thread then; SEEN_NONE: it idles */
	bool is_told;
};

struct targets {
	struct target *list; /* places; those without a segment are free */
	size_t count;
	enum reason reason; /* why the first unobserved process was not observed */
	bool is_observed;   /* some process was observed */
};

void targets_done(struct targets *targets);

/* Tells which processes the run has from now on. */
void targets_follow(struct targets *targets, struct segment *const *segments, size_t count);

/* The process by the number in its records; NULL: there is none. */
struct target *targets_find(const struct targets *targets, int32_t pid);

bool target_trains(const struct target *target); /* a thread of it takes batches */
bool target_loads(const struct target *target);  /* Whether the process is a worker. */

/* Notes that the thread takes batches. */
void target_note_asker(struct target *target, uint32_t tid);

/* Finds the process's interpreter, if it is time for a try. Whether its lines are observed. */
bool target_open(struct targets *targets, struct target *target, uint64_t now_ns);

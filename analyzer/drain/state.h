/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - a drain's state and its open segments, for drain.c and gather.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/machine/neighbours.h"
#include "drain/database/facts.h"
#include "drain/gpu/gpu_others.h"
#include "drain/segments/folder.h"
#include "drain/batches/join.h"
#include "drain/database/home.h"
#include "drain/metrics/live.h"
#include "drain/segments/segment.h"
#include "drain/machine/use.h"

struct drain {
	const char *database;
	struct home home;
	struct folder folder;
	struct segment **segments;
	size_t count;
	uint64_t opened; /* number of all segments opened so far, also those closed since */
	struct db *db;
	struct writer *writer;
	struct join *join;
	bool in_transaction;
	uint64_t begun_ns;
	uint64_t tallied_ns;
	uint64_t stacks_ns; /* time from which stacks are unwound again */
	uint64_t end_ns;    /* when the end of a process was last seen */
	bool over;          /* the run is over, and its folder is removed */
	int wait_ms;
	size_t taken;
	bool took;
	int tries; /* number of further attempts to remove segments, once a second */
	size_t uncommitted;
	struct cores cores;
	struct neighbours neighbours;
	struct use use;
	struct gpu_others gpu_others;
	struct facts facts;
	struct losses losses;
	struct live live;
	struct sampler *sampler;
};

/* Opens new segments, and makes a missing folder again. `now`: lists the folder even if not due. */
int gather(struct drain *drain, bool now);

int gather_leave(struct drain *drain, const char *name, int error);
void gather_drop(struct drain *drain, size_t index);

bool gather_is_live(const struct drain *drain);
bool gather_is_life_live(const struct drain *drain, const struct life *life);

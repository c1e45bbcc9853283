/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what drain.c and gather.c share: a drain at work, and which segments it has open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/machine/cores.h"
#include "drain/machine/neighbours.h"
#include "drain/database/facts.h"
#include "drain/segments/folder.h"
#include "drain/batches/join.h"
#include "drain/database/home.h"
#include "drain/metrics/live.h"
#include "drain/segments/segment.h"
#include "drain/machine/use.h"

struct drain {
	const char *database;
	struct home home;		/* where it is written */
	struct folder folder;
	struct segment **segments;
	size_t count;
	struct db *db;
	struct writer *writer;
	struct join *join;
	bool in_transaction;
	uint64_t begun_ns;		/* the transaction */
	uint64_t tallied_ns;
	uint64_t stacks_ns;		/* when to take the next ones */
	uint64_t end_ns;		/* the newest end of a process */
	bool over;			/* the run is, and its folder is gone */
	int wait_ms;			/* until the next round */
	size_t taken;			/* records in this round */
	bool took;			/* there were some */
	int tries;			/* to remove segments, a second apart */
	size_t uncommitted;		/* records since the last commit */
	struct cores cores;
	struct neighbours neighbours;
	struct use use;
	struct facts facts;
	struct losses losses;
	struct live live;
	struct sampler *sampler;
};

/*
 * Opens what is new in the folder, if it is time for a look, or `now`. Where the folder is gone, it
 * goes on with a new one.
 */
int gather(struct drain *drain, bool now);

/* Leaves the file where it is, for `error`, and says so; nobody looks at it again. */
int gather_leave(struct drain *drain, const char *name, int error);
void gather_drop(struct drain *drain, size_t index);

/* Whether the run goes on; whether one life of a process of it does. */
bool gather_is_live(const struct drain *drain);
bool gather_is_life_live(const struct drain *drain, const struct life *life);

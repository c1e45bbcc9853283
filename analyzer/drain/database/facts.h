/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what segment headers tell of the run and its processes, put into the database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * Of one run, all zero at first: its patch points, comma-separated, of all processes. What one of
 * them found is not missing: workers that import the program anew have its classes under another
 * name.
 */
struct facts {
	char found[2 * DLPROF_NOTES_BYTES];
	char missing[2 * DLPROF_NOTES_BYTES];
};

/* What its header tells of the process, and how it ended if that is known. */
struct process_row facts_process(const struct segment *segment);

/*
 * Of a life's loader its number among all of the process: counted on from when the life began,
 * since none makes a loader in each nanosecond.
 */
int64_t facts_loader(const struct segment *segment, uint32_t number);

/* A segment appeared: the process, and if it is the root's, the run. */
int facts_begin(struct writer *writer, const struct segment *segment, const char *folder);

/* Again and again: new notes, losses, the end of the process once it is dead. */
int facts_update(struct facts *facts, struct losses *losses, struct writer *writer,
		 struct segment *segment);

/* The run is over: when it ended and each loader's threshold. */
int facts_finish(struct writer *writer, struct db *db, uint64_t end_ns);

/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - writes facts about the run and its processes from segment headers into the database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * Patch points of all processes of a run, as comma-separated lists; all zero at first. A point that
 * one process found is not missing, though another may lack it: workers that import the main
 * program again have its classes under another name.
 */
struct facts {
	char found[2 * DLPROF_NOTES_BYTES];
	char missing[2 * DLPROF_NOTES_BYTES];
};

/* Makes a process's row: facts from its header, and how the process ended, if known. */
struct process_row facts_process(const struct segment *segment);

/*
 * Returns a number for a loader that is unique in its process, from its number in one life: begin
 * of the life in nanoseconds plus that number. No process makes a loader every nanosecond.
 */
int64_t facts_loader(const struct segment *segment, uint32_t number);

/* Writes a process's row when its segment has appeared; for the root process, also the run's. */
int facts_begin(struct writer *writer, const struct segment *segment, const char *folder);

/* Writes new notes, new losses, and the end of a dead process. May be called repeatedly. */
int facts_update(struct facts *facts, struct losses *losses, struct writer *writer,
		 struct segment *segment);

/* Ends the run: writes its end and each loader's threshold for starved batches. */
int facts_finish(struct writer *writer, struct db *db, uint64_t end_ns);

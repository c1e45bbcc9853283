/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - writes what segment headers say of the run and of its processes into the database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * Patch points of all processes of a run, as comma-separated lists; all zero at first. A point that
 * one process found does not count as missing: workers that import the main program again have its
 * classes under another name.
 */
struct facts {
	char found[2 * DLPROF_NOTES_BYTES];
	char missing[2 * DLPROF_NOTES_BYTES];
};

/* Makes a process's row: what its header says, and how the process ended if that is known. */
struct process_row facts_process(const struct segment *segment);

/*
 * Returns a loader's number that is unique in a process, from its number in one life: the life's
 * begin in nanoseconds plus that number, as no process makes a loader every nanosecond.
 */
int64_t facts_loader(const struct segment *segment, uint32_t number);

/* Writes the row of a process whose segment appeared; if it is the root process, also the run. */
int facts_begin(struct writer *writer, const struct segment *segment, const char *folder);

/* Writes new notes, new losses, and the process's end once it is dead. May be called repeatedly. */
int facts_update(struct facts *facts, struct losses *losses, struct writer *writer,
		 struct segment *segment);

/* Ends the run: writes its end time and each loader's threshold. */
int facts_finish(struct writer *writer, struct db *db, uint64_t end_ns);

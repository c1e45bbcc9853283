/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - writes what segment headers tell of the run and its processes into the database. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/*
 * Patch points of all processes of a run, comma-separated; all zero at first. A point that one
 * process found is not missing: workers that import the program anew have its classes under another
 * name.
 */
struct facts {
	char found[2 * DLPROF_NOTES_BYTES];
	char missing[2 * DLPROF_NOTES_BYTES];
};

/* A process's row: what its header tells, and how it ended if that is known. */
struct process_row facts_process(const struct segment *segment);

/*
 * A loader's number among all of the process, from its number in one life. It counts on from the
 * life's begin, as no process makes a loader in each nanosecond.
 */
int64_t facts_loader(const struct segment *segment, uint32_t number);

/* Writes a process whose segment appeared, and the run if it is the root's. */
int facts_begin(struct writer *writer, const struct segment *segment, const char *folder);

/* Writes new notes, losses, and the process's end once it is dead. Called again and again. */
int facts_update(struct facts *facts, struct losses *losses, struct writer *writer,
		 struct segment *segment);

/* Ends the run: writes its end and each loader's threshold. */
int facts_finish(struct writer *writer, struct db *db, uint64_t end_ns);

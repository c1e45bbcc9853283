/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - writes facts about the run and its processes from segment headers into the database. */
#pragma once

#include <stdint.h>

#include "drain/segments/losses.h"
#include "drain/segments/segment.h"
#include "store/write/write.h"

/* Lists of patch points, empty at first. A point that any process found is not missing. */
struct facts {
	char found[2 * DLPROF_NOTES_BYTES];
	char missing[2 * DLPROF_NOTES_BYTES];
};

struct process_row facts_process(const struct segment *segment);

/* Returns a loader's id, unique in its process: when the segment was made, in ns, + `number`. */
int64_t facts_loader(const struct segment *segment, uint32_t number);

/* Writes a process and, if it is the run's first process, the run. */
int facts_begin(struct writer *writer, const struct segment *segment, const char *folder);

int facts_update(struct facts *facts, struct losses *losses, struct writer *writer,
		 struct segment *segment);

int facts_finish(struct writer *writer, struct db *db, uint64_t end_ns);

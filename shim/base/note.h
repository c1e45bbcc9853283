/* SPDX-License-Identifier: Apache-2.0 */
/* note.h - adds lines to the database's table of notes. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct dlprof_header;

/* Sets the header into which later notes go; NULL: they go only to DLPROF_LOG. */
void note_into(struct dlprof_header *header);

/* Adds a line, at any time and in any thread. `level`: see dlprof_header.notes. */
void note_add(char level, const char *text);
void note_format(char level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define note_once(level, text)                                                                     \
	do {                                                                                       \
		static atomic_bool noted;                                                          \
                                                                                                   \
		if (!atomic_exchange(&noted, true))                                                \
			note_add(level, text);                                                     \
	} while (0)

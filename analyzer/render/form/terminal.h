/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - output of dlprof's programs: a page for each stream, and messages on stderr. */
#pragma once

#include "render/form/page.h"

enum terminal_color {
	TERMINAL_AUTO, /* colour if the terminal has it and NO_COLOR is not set */
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

/* Returns the page for a stream: as wide as the terminal or $COLUMNS; ASCII if the locale is. */
struct page terminal_page(FILE *out, enum terminal_color color, bool ascii);

/* Prints "PROGRAM: ..." as one printable line on stderr. Returns TERMINAL_ERROR. */
#define TERMINAL_ERROR 2 /* exit status after wrong usage or a failure */
__attribute__((format(printf, 2, 3))) int terminal_say(const char *program, const char *format,
						       ...);

/* Closes the stream. Returns NULL, or why the output is not complete. */
const char *terminal_close(FILE *out);

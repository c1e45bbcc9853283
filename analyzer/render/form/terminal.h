/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - our programs' output: the page that fits it, and lines on stderr. */
#pragma once

#include "render/form/page.h"

enum terminal_color {
	TERMINAL_AUTO, /* colour if the terminal has it, unless NO_COLOR is set */
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

/* The page for an output: as wide as the terminal, or $COLUMNS; ASCII if the locale has no more. */
struct page terminal_page(FILE *out, enum terminal_color color, bool ascii);

/* Prints "PROGRAM: ..." as one harmless line on stderr. Returns TERMINAL_ERROR. */
#define TERMINAL_ERROR 2 /* exit status for bad usage or a failure */
__attribute__((format(printf, 2, 3))) int terminal_say(const char *program, const char *format,
						       ...);

/* Closes the output. NULL, or why not all of it was written. */
const char *terminal_close(FILE *out);

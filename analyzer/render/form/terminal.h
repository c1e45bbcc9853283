/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - what our programs say, and where: the page that fits an output, lines on stderr. */
#pragma once

#include "render/form/page.h"

enum terminal_color {
	TERMINAL_AUTO, /* on a terminal that can, unless NO_COLOR is set */
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

/* As wide as the terminal, or $COLUMNS; nothing but ASCII where the locale has no more. */
struct page terminal_page(FILE *out, enum terminal_color color, bool ascii);

/* "PROGRAM: ..." as one line on stderr, harmless whatever is in it. Returns TERMINAL_ERROR. */
#define TERMINAL_ERROR 2 /* the exit status of bad usage, and of what went wrong */
__attribute__((format(printf, 2, 3))) int terminal_say(const char *program, const char *format,
						       ...);

/* Closes it. NULL, or why not all that was written arrived. */
const char *terminal_close(FILE *out);

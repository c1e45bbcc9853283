/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - the output of dlprof's programs: a page for each stream, messages on stderr. */
#pragma once

#include "render/form/page.h"

enum terminal_color {
	TERMINAL_AUTO,
	TERMINAL_ALWAYS,
	TERMINAL_NEVER,
};

struct page terminal_page(FILE *out, enum terminal_color color, bool ascii);

#define TERMINAL_ERROR 2 /* exit status after wrong usage or a failure */
__attribute__((format(printf, 2, 3))) int terminal_say(const char *program, const char *format,
						       ...);

/* Closes a stream. Returns NULL, or why the output is incomplete. */
const char *terminal_close(FILE *out);

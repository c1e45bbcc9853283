/* SPDX-License-Identifier: Apache-2.0 */
/* man.h - manual pages from the tables that parse the command line. */
#pragma once

#include "line/line.h"

void man_begin(FILE *out, const char *name, int section, const char *summary);
void man_section(FILE *out, const char *title);

/* Paragraphs, separated by an empty line. */
void man_text(FILE *out, const char *text);

/* An entry: a term, and paragraphs beside it. */
void man_entry(FILE *out, const char *term, const char *text);

/* Everything that the table says, NAME to EXAMPLES. */
void man_program(FILE *out, const struct line_program *program);

void man_see_also(FILE *out, const char *pages);

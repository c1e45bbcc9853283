/* SPDX-License-Identifier: Apache-2.0 */
/* man.h - makes manual pages and completions from the tables that parse command lines. */
#pragma once

#include "line/line.h"

void man_begin(FILE *out, const char *name, int section, const char *summary);
void man_section(FILE *out, const char *title);

void man_subsection(FILE *out, const char *title, const char *text);

/* Writes paragraphs. In `text`, empty lines are between them. */
void man_text(FILE *out, const char *text);

void man_entry(FILE *out, const char *term, const char *text);

/* Writes those sections from NAME to EXAMPLES for which the table has texts. */
void man_program(FILE *out, const struct line_program *program);

void man_see_also(FILE *out, const char *pages);

/* Write the completions of one shell (complete.c). */
void complete_bash(FILE *out, const struct line_program *program);
void complete_zsh(FILE *out, const struct line_program *program);
void complete_fish(FILE *out, const struct line_program *program);

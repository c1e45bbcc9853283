/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - what a shell needs to complete a command line, from the table that parses it. */
#ifndef LINE_COMPLETE_H
#define LINE_COMPLETE_H

#include "line/line.h"

void complete_bash(FILE *out, const struct line_program *program);
void complete_zsh(FILE *out, const struct line_program *program);
void complete_fish(FILE *out, const struct line_program *program);

#endif

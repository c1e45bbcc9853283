/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - the completions of bash, zsh and fish, made at build from a program's tables. */
#pragma once

#include "line/line.h"

void complete_bash(FILE *out, const struct line_program *program);
void complete_zsh(FILE *out, const struct line_program *program);
void complete_fish(FILE *out, const struct line_program *program);

/* SPDX-License-Identifier: Apache-2.0 */
/* complete.h - makes completions for bash, zsh and fish from a program's tables, at build time. */
#pragma once

#include "line/line.h"

void complete_bash(FILE *out, const struct line_program *program);
void complete_zsh(FILE *out, const struct line_program *program);
void complete_fish(FILE *out, const struct line_program *program);

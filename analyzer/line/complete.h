/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete.h - what may stand at the end of a command line, for the shells' completions, which ask
 * the program itself: `dlprof __complete run --det`. complete.bash and the others are what asks.
 */
#pragma once

#include "line/line.h"

/*
 * False: this is no such question. Else a line "WORD\tHELP" for each word that may stand in the
 *place of the last argument, whatever that begins with, and perhaps one of what else may:
 *	":files SUFFIX"	files, those that end so rather than others
 *	":folders"
 *	":command N"	a command of its own, which begins at argument N, counted from the verb's
 *place
 */
bool complete(const struct line_program *program, int argc, char **argv, FILE *out);

/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.h - a step to take, in words that fit the run: with its numbers where they are known. */
#ifndef REMEDY_H
#define REMEDY_H

#include "render/report.h"

#define REMEDY_WORDS 256

/* What to do, and how, in a sentence each; a buffer of REMEDY_WORDS bytes. */
const char *remedy_line(const struct report *report, const struct advice *advice, char *buffer);
const char *remedy_how(const struct report *report, const struct advice *advice, char *buffer);

#endif

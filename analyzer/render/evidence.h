/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - the numbers that a cause was decided by, in words. */
#ifndef EVIDENCE_H
#define EVIDENCE_H

#include "render/report.h"

/* Appends them, and the cause that is named beside the first; `text` stays terminated. */
void evidence_add(const struct report *report, char *text, size_t size);

/* What takes the loader's batches: the training, or where it has other loaders "this loop". */
const char *evidence_taker(const struct report *report);

#endif

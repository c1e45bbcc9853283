/* SPDX-License-Identifier: Apache-2.0 */
/* details.h - all that a report says beyond its screen. */
#ifndef DETAILS_H
#define DETAILS_H

#include "render/outline.h"

/*
 * Chapters: wait, life, slowest, gpu, pattern, predict, loader, coverage, place; each leaves out
 * what was not observed.
 */
void details_outline(const struct report *report, struct outline *outline);

#endif

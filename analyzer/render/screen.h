/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - what a report says first, and by default alone: the one number and what it is made of,
 * why, what to do, what not to do, and how sure that is. It fits a terminal of 80 x 24.
 */
#ifndef SCREEN_H
#define SCREEN_H

#include "render/outline.h"

/*
 * Chapters of the screen, in order. Rows are items; of "account" they are the parts of a bar, by
 * `share`; of "next" the text below an item says how; "waits" is shown as a strip.
 */
#define SCREEN_HEAD    "head"
#define SCREEN_VERDICT "verdict"
#define SCREEN_ACCOUNT "account"
#define SCREEN_WHY     "why"
#define SCREEN_NEXT    "next"
#define SCREEN_NO      "no"
#define SCREEN_WAITS   "waits"
#define SCREEN_SURE    "sure"
#define SCREEN_MORE    "more"

void screen_outline(const struct report *report, struct outline *outline);

#endif

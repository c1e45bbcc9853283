/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - a terminal that is drawn on for a while, and given back as it was: by a key, by Ctrl-C
 * and other signals that end a program, and while it is stopped. One at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum screen_event {
	SCREEN_DRAW, /* the time is over, or the window has another size */
	SCREEN_QUIT, /* q or Ctrl-C */
};

/* False: `out` is no terminal that could be drawn on. */
bool screen_take(FILE *out);

/* As it was. Where it is not taken, nothing. */
void screen_give_back(void);

/* Before each picture: an empty screen. */
void screen_clear(void);

/* Until there is something to do. Other signals than Ctrl-C end the program here. */
enum screen_event screen_wait(int interval_ms);

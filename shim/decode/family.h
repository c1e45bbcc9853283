/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - what the families of decode.def have in common; each is a BEGIN_x and an END_x. */
#ifndef FAMILY_H
#define FAMILY_H

#include "decode/unit.h"

/*
 * BEGIN_x and END_x see the wrapper's parameters, `unit`, `target`, `row` and `result`. What they
 * read of a caller's struct they read after the call has done so, or before it where it must.
 */
#define BEGIN	unit_begin(&unit, row)
#define NO_BITS ((struct unit_result){0})

/* A call that is not timed comes to its end only where ld.so has its slot to bind. */
#define UNTIMED(what) ((void)row, (void)&unit, what, slot != NULL)

#endif

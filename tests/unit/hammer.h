/* SPDX-License-Identifier: Apache-2.0 */
/* hammer.h - functions that both readers of hammer.c's rings use. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

void hammer_demand(bool fine, const char *what);

/* Aborts unless a record is whole, the thread's, and has at least the number *next, which it sets.
 */
void hammer_check(const struct dlprof_event *event, uint32_t tid, uint32_t *next);

/* Reads the folder's only segment by the drain's reader until `done`; returns how many records. */
uint64_t hammer_drain(const char *folder, const _Atomic bool *done);

/* SPDX-License-Identifier: Apache-2.0 */
/* hammer.h - what the two readers of hammer.c's rings share. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlprof/event.h"

void hammer_demand(bool fine, const char *what);

/* A record of the thread: whole, and none that came before; `next`: the least number it may have.
 */
void hammer_check(const struct dlprof_event *event, uint32_t tid, uint32_t *next);

/* Reads the one segment in the folder until `done`, by the drain's own reader; how many records. */
uint64_t hammer_drain(const char *folder, const _Atomic bool *done);

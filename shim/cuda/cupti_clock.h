/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_clock.h - reads CUPTI's clock and ours together, so that clock_map.h can convert times. For
 * the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Takes a look at both clocks. `anew`: CUPTI may use another clock than before. */
void cupti_clock_look(bool anew);

/* Takes a look, and adds it to the map only if CUPTI's clock was set since the last one. */
void cupti_clock_check(void);

/* Converts a record's begin and end to our clock. Returns false if they are impossible. */
bool cupti_clock_convert(uint64_t *begin, uint64_t *end);

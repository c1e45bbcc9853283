/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_clock.h - reads CUPTI's clock and ours together, so that clock_map.h can convert times. For
 * the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads both clocks. `anew`: CUPTI may use another clock than before. */
void cupti_clock_look(bool anew);

/* Reads both clocks, and notes the look only if CUPTI's clock was set since the last one. */
void cupti_clock_check(void);

/* Converts a record's two times from CUPTI's clock to ours; false: they are impossible. */
bool cupti_clock_convert(uint64_t *begin, uint64_t *end);

/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_clock.h - reads CUPTI's clock and ours together, for clock_map.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Adds a reading of both clocks. `anew`: CUPTI's clock may have been replaced by another one. */
void cupti_clock_look(bool anew);

/* Adds a reading only if CUPTI's clock was changed since the last one. */
void cupti_clock_check(void);

/* Converts an operation's times to CLOCK_MONOTONIC. Returns false if they are impossible. */
bool cupti_clock_convert(uint64_t *begin, uint64_t *end);

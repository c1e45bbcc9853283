/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_clock.h - looks at CUPTI's clock and at ours, so that clock_map.h can convert from one to
 * the other. Used by the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Looks at both clocks. `anew`: CUPTI's may be another one than before. */
void cupti_clock_look(bool anew);

/* Looks only if CUPTI's clock was set since the last look. */
void cupti_clock_check(void);

/* Converts a record's two times from CUPTI's clock to ours; false: they are impossible. */
bool cupti_clock_convert(uint64_t *begin, uint64_t *end);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cupti_clock.h - looks at CUPTI's clock and at ours, so that clock_map.h can tell one by the
 * other. Of the writing thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Looks at both. `anew`: CUPTI's may have become another one. */
void cupti_clock_look(bool anew);

/* The same, but only if CUPTI's clock was set since the last look. */
void cupti_clock_check(void);

/* A record's two times, from CUPTI's clock to ours; false: they cannot be. */
bool cupti_clock_convert(uint64_t *begin, uint64_t *end);

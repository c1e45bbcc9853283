/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_clock.h - reads CUPTI's clock and ours together: a look (clock_map.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* `anew`: CUPTI may use another clock than before. */
void cupti_clock_look(bool anew);

/* Adds a look only if CUPTI's clock was set since the last one. */
void cupti_clock_check(void);

/* Returns false if the times are impossible. */
bool cupti_clock_convert(uint64_t *begin, uint64_t *end);

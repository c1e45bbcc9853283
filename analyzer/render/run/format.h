/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - how to read and decode less, by the format of what the loads read and decode. */
#pragma once

#include "render/run/parts.h"

/* Returns the line of ADVICE_DECODE_BOUND for this format; NULL: the line in remedies.def fits. */
const char *format_decode_line(const struct report *report);

/* Write how to read less (ADVICE_READ_LESS, or ADVICE_STOP_GROWTH if reads grow), and how to decode
 * less (ADVICE_DECODE_BOUND), into the REMEDY_WORDS bytes of `buffer`. */
void format_reading(const struct report *report, char *buffer);
void format_growing_reads(const struct report *report, char *buffer);
void format_decoding(const struct report *report, char *buffer);

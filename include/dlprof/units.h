/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - units and values that all files share. */
#pragma once

#include <stdint.h>

#define NS_PER_S 1e9 /* cast to int64_t for integers */

#define ARRAY_COUNT(array) (sizeof(array) / sizeof(*(array)))

#define VERDICT_BATCHES 20 /* fewer batches, not counting the first one, get no verdict */

#define UNKNOWN INT64_MIN /* a number that was not observed; in SQL NULL, in JSON null */

/* SPDX-License-Identifier: Apache-2.0 */
/* clamp.h - adds and subtracts. A result beyond the limits of int64_t becomes the nearer limit. */
#pragma once

#include <stdint.h>

static inline int64_t clamp_add(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t clamp_sub(int64_t a, int64_t b)
{
	int64_t difference;

	return !__builtin_sub_overflow(a, b, &difference) ? difference
	       : b > 0                                    ? INT64_MIN
							  : INT64_MAX;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/wish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_LOAD 100.0

static bool take_whole(int32_t *ret, const char *value, size_t length, long least, long most)
{
	char *stop;
	long number;

	if (*value < '0' || *value > '9')
		return false;
	number = strtol(value, &stop, 10);
	*ret = (int32_t)number;
	return stop == value + length && number >= least && number <= most;
}

static bool take_factor(double *ret, const char *value, size_t length)
{
	char *stop;

	if ((*value < '0' || *value > '9') && *value != '.')
		return false;
	*ret = strtod(value, &stop);
	return stop == value + length && *ret >= 0 && *ret <= MOST_LOAD;
}

static bool take_bool(int32_t *ret, const char *value, size_t length)
{
	*ret = length == 4 && strncasecmp(value, "true", 4) == 0;
	return *ret || (length == 5 && strncasecmp(value, "false", 5) == 0);
}

static bool take(struct whatif_wish *ret, const char *key, size_t key_length, const char *value,
		 size_t length)
{
	if (key_length == 7 && memcmp(key, "workers", 7) == 0)
		return take_whole(&ret->workers, value, length, 0, WISH_MOST_WORKERS);
	if (key_length == 15 && memcmp(key, "prefetch_factor", 15) == 0)
		return take_whole(&ret->prefetch_factor, value, length, 1, WISH_MOST_PREFETCH);
	if (key_length == 8 && memcmp(key, "in_order", 8) == 0)
		return take_bool(&ret->in_order, value, length);
	if (key_length == 4 && memcmp(key, "load", 4) == 0)
		return take_factor(&ret->load_factor, value, length);
	return false;
}

bool wish_parse(const char *text, struct whatif_wish *ret)
{
	const char *at = text, *equals;
	size_t length;

	*ret = (struct whatif_wish){text, -1, -1, -1, NAN};
	for (;; at += length + 1) {
		length = strcspn(at, ",");
		equals = memchr(at, '=', length);
		if (!equals || !take(ret, at, (size_t)(equals - at), equals + 1,
				     length - (size_t)(equals + 1 - at)))
			return false;
		if (!at[length])
			return true;
	}
}

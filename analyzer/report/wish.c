/* SPDX-License-Identifier: Apache-2.0 */
#include "report/wish.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "line/near.h"

#define MOST_LOAD 100.0
#define MOST_KEYS 200 /* room for the names of all keys */

enum kind { WHOLE, FLAG, FACTOR };

static const struct key {
	const char *name, *takes;
	size_t offset; /* place in struct whatif_wish of an int32_t, or for FACTOR of a double */
	enum kind kind;
	long least, most; /* limits of a value of kind WHOLE */
} KEYS[] = {
#define AT(member) offsetof(struct whatif_wish, member)
	{"workers", "N", AT(workers), WHOLE, 0, WISH_MOST_WORKERS},
	{"prefetch_factor", "N", AT(prefetch_factor), WHOLE, 1, WISH_MOST_PREFETCH},
	{"in_order", "true|false", AT(in_order), FLAG},
	{"persistent", "true|false", AT(persistent), FLAG},
	{"load", "FACTOR", AT(load_factor), FACTOR},
#undef AT
};

static void list_keys(char text[MOST_KEYS])
{
	*text = '\0';
	for (size_t i = 0; i < ARRAY_COUNT(KEYS); i++)
		snprintf(text + strlen(text), MOST_KEYS - strlen(text), "%s%s=%s", i ? ", " : "",
			 KEYS[i].name, KEYS[i].takes);
}

static bool take_whole(const struct key *key, const char *value, size_t length, int32_t *ret)
{
	char *stop;
	long number;

	if (*value < '0' || *value > '9')
		return false;
	number = strtol(value, &stop, 10);
	*ret = (int32_t)number;
	return stop == value + length && number >= key->least && number <= key->most;
}

static bool take_flag(const char *value, size_t length, int32_t *ret)
{
	*ret = length == 4 && strncasecmp(value, "true", 4) == 0;
	return *ret || (length == 5 && strncasecmp(value, "false", 5) == 0);
}

static bool take_factor(const char *value, size_t length, double *ret)
{
	char *stop;

	if ((*value < '0' || *value > '9') && *value != '.')
		return false;
	*ret = strtod(value, &stop);
	return stop == value + length && *ret >= 0 && *ret <= MOST_LOAD;
}

static bool take_value(const struct key *key, const char *value, size_t length,
		       struct whatif_wish *ret)
{
	void *at = (char *)ret + key->offset;

	return key->kind == WHOLE  ? take_whole(key, value, length, at)
	       : key->kind == FLAG ? take_flag(value, length, at)
				   : take_factor(value, length, at);
}

/* Reads one KEY=VALUE of `length` characters into *ret. */
static bool take(const char *text, size_t length, struct whatif_wish *ret, char *problem,
		 size_t size)
{
	const char *equals = memchr(text, '=', length);
	size_t name_length = equals ? (size_t)(equals - text) : length;
	struct near near = {text, name_length};
	char words[NEAR_WORDS], keys[MOST_KEYS];
	size_t i;

	for (i = 0; i < ARRAY_COUNT(KEYS); i++) {
		if (strlen(KEYS[i].name) == name_length &&
		    strncmp(KEYS[i].name, text, name_length) == 0)
			break;
		near_try(&near, KEYS[i].name);
	}
	if (i < ARRAY_COUNT(KEYS) && equals &&
	    take_value(&KEYS[i], equals + 1, length - name_length - 1, ret))
		return true;
	if (i < ARRAY_COUNT(KEYS)) {
		snprintf(problem, size, "'%.*s' is not %s=%s", (int)length, text, KEYS[i].name,
			 KEYS[i].takes);
		return false;
	}
	list_keys(keys);
	near_words(&near, "", words);
	snprintf(problem, size, "'%.*s' is not one of its settings%s%s %s", (int)name_length, text,
		 words, *words ? " They are" : ", which are", keys);
	return false;
}

bool wish_parse(const char *text, struct whatif_wish *ret, char *problem, size_t size)
{
	const char *at = text;
	size_t length;

	*ret = (struct whatif_wish){text, -1, -1, -1, NAN};
	for (;; at += length + 1) {
		length = strcspn(at, ",");
		if (!take(at, length, ret, problem, size))
			return false;
		if (!at[length])
			return true;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/wish.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "line/near.h"

#define MOST_LOAD 100.0
#define MOST_KEYS 200 /* bytes of all keys */

/* One setting of a wish, as it was written. */
struct setting {
	const char *value;
	size_t length;
	struct whatif_wish *wish;
};

static bool take_whole(const struct setting *setting, long least, long most, int32_t *ret)
{
	char *stop;
	long number;

	if (*setting->value < '0' || *setting->value > '9')
		return false;
	number = strtol(setting->value, &stop, 10);
	*ret = (int32_t)number;
	return stop == setting->value + setting->length && number >= least && number <= most;
}

static bool take_workers(const struct setting *setting)
{
	return take_whole(setting, 0, WISH_MOST_WORKERS, &setting->wish->workers);
}

static bool take_prefetch_factor(const struct setting *setting)
{
	return take_whole(setting, 1, WISH_MOST_PREFETCH, &setting->wish->prefetch_factor);
}

static bool take_bool(const struct setting *setting, int32_t *ret)
{
	*ret = setting->length == 4 && strncasecmp(setting->value, "true", 4) == 0;
	return *ret || (setting->length == 5 && strncasecmp(setting->value, "false", 5) == 0);
}

static bool take_in_order(const struct setting *setting)
{
	return take_bool(setting, &setting->wish->in_order);
}

static bool take_persistent(const struct setting *setting)
{
	return take_bool(setting, &setting->wish->persistent);
}

static bool take_load(const struct setting *setting)
{
	double *ret = &setting->wish->load_factor;
	char *stop;

	if ((*setting->value < '0' || *setting->value > '9') && *setting->value != '.')
		return false;
	*ret = strtod(setting->value, &stop);
	return stop == setting->value + setting->length && *ret >= 0 && *ret <= MOST_LOAD;
}

static const struct key {
	const char *name;
	const char *takes;
	bool (*take)(const struct setting *setting);
} KEYS[] = {
	{"workers", "N", take_workers},
	{"prefetch_factor", "N", take_prefetch_factor},
	{"in_order", "true|false", take_in_order},
	{"persistent", "true|false", take_persistent},
	{"load", "FACTOR", take_load},
};
#define KEY_COUNT (sizeof(KEYS) / sizeof(*KEYS))

static void list_keys(char text[MOST_KEYS])
{
	size_t i;

	*text = '\0';
	for (i = 0; i < KEY_COUNT; i++)
		snprintf(text + strlen(text), MOST_KEYS - strlen(text), "%s%s=%s", i ? ", " : "",
			 KEYS[i].name, KEYS[i].takes);
}

/* `length` characters of KEY=VALUE. */
static bool take(const char *text, size_t length, struct whatif_wish *ret, char *problem,
		 size_t size)
{
	const char *equals = memchr(text, '=', length);
	size_t name_length = equals ? (size_t)(equals - text) : length;
	struct near near = near_begin(text, name_length);
	struct setting setting = {.wish = ret};
	char words[NEAR_WORDS], keys[MOST_KEYS];
	size_t i;

	for (i = 0; i < KEY_COUNT; i++) {
		if (strlen(KEYS[i].name) == name_length &&
		    strncmp(KEYS[i].name, text, name_length) == 0)
			break;
		near_try(&near, KEYS[i].name);
	}
	if (i < KEY_COUNT && equals) {
		setting.value = equals + 1;
		setting.length = length - name_length - 1;
		if (KEYS[i].take(&setting))
			return true;
	}
	if (i < KEY_COUNT) {
		snprintf(problem, size, "'%.*s' is not %s=%s", (int)length, text, KEYS[i].name,
			 KEYS[i].takes);
		return false;
	}
	list_keys(keys);
	near_words(&near, "", words, sizeof(words));
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.h - parses DLPROF_SET, the settings for loaders: "[FILE:LINE:]KEY=VALUE,...[;...]".
 *
 * A FILE:LINE applies until the next ';'. The launcher refuses a bad text; the training ignores it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define DLPROF_SET_MOST 32

enum dlprof_set {
#define SET(id, ...) DLPROF_SET_##id,
#include "dlprof/set.def"
	DLPROF_SET_MAX
};

enum dlprof_set_scope { DLPROF_SET_LOADER, DLPROF_SET_PROGRAM };

static const struct dlprof_set_row {
	const char *key, *other_key;
	int32_t least, most;
	const char *words; /* "a|b|..."; "": the value is a number */
	const char *takes;
	enum dlprof_set_scope scope;
	const char *before, *after;
	bool quoted;
} dlprof_set_rows[DLPROF_SET_MAX] = {
#define SET(id, key, other_key, least, most, words, takes, scope, before, after, quoted)           \
	{key, other_key, least, most, words, takes, DLPROF_SET_##scope, before, after, quoted},
#include "dlprof/set.def"
};

struct dlprof_set_entry {
	enum dlprof_set key;
	int32_t value;
	const char *place; /* "train.py:16", of place_length bytes; NULL: all loaders */
	size_t place_length;
};

struct dlprof_set_list {
	struct dlprof_set_entry entries[DLPROF_SET_MOST];
	size_t count;
};

enum dlprof_set_problem {
	DLPROF_SET_FINE,
	DLPROF_SET_BAD_KEY,
	DLPROF_SET_BAD_VALUE,
	DLPROF_SET_BAD_PLACE,	/* the place is not FILE:LINE, or the key takes no place */
	DLPROF_SET_TOO_MANY,
};

static inline bool dlprof_set_is(const char *text, size_t length, const char *word)
{
	return length && strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Returns the index of a word in "a|b|c", or -1. Case does not count: Python writes True. */
static inline int32_t dlprof_set_word(const char *words, const char *text, size_t length)
{
	for (int32_t i = 0; *words; i++) {
		size_t word = strcspn(words, "|");

		if (word == length && strncasecmp(words, text, length) == 0)
			return i;
		words += word + (words[word] == '|');
	}
	return -1;
}

static inline int32_t dlprof_set_number(const char *text, size_t length)
{
	int32_t number = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9' || number > 1000000)
			return -1;
		number = 10 * number + (text[i] - '0');
	}
	return length ? number : -1;
}

static inline enum dlprof_set_problem dlprof_set_take(const char *text, size_t length,
						      struct dlprof_set_entry *ret)
{
	const char *equals = memchr(text, '=', length), *key = text;
	const size_t key_end = equals ? (size_t)(equals - text) : length;
	const char *colon = memrchr(text, ':', key_end);
	size_t key_length, value_length;

	if (colon) {
		const char *line = memrchr(text, ':', (size_t)(colon - text)), *slash;

		if (!line || dlprof_set_number(line + 1, (size_t)(colon - line - 1)) < 0)
			return DLPROF_SET_BAD_PLACE;
		slash = memrchr(text, '/', (size_t)(line - text));
		ret->place = slash ? slash + 1 : text;
		ret->place_length = (size_t)(colon - ret->place);
		key = colon + 1;
	}
	key_length = (size_t)(text + key_end - key);
	for (ret->key = 0; ret->key < DLPROF_SET_MAX; ret->key++)
		if (dlprof_set_is(key, key_length, dlprof_set_rows[ret->key].key) ||
		    dlprof_set_is(key, key_length, dlprof_set_rows[ret->key].other_key))
			break;
	if (ret->key == DLPROF_SET_MAX)
		return DLPROF_SET_BAD_KEY;
	if (!equals)
		return DLPROF_SET_BAD_VALUE;
	value_length = length - key_end - 1;
	ret->value = *dlprof_set_rows[ret->key].words
			     ? dlprof_set_word(dlprof_set_rows[ret->key].words, equals + 1,
					       value_length)
			     : dlprof_set_number(equals + 1, value_length);
	if (ret->value < dlprof_set_rows[ret->key].least ||
	    ret->value > dlprof_set_rows[ret->key].most)
		return DLPROF_SET_BAD_VALUE;
	if (ret->place && dlprof_set_rows[ret->key].scope == DLPROF_SET_PROGRAM)
		return DLPROF_SET_BAD_PLACE;
	return DLPROF_SET_FINE;
}

/* The list points into `text`. On an error, *ret_at is the bad setting, of *ret_length bytes. */
static inline enum dlprof_set_problem dlprof_set_parse(const char *text,
						       struct dlprof_set_list *ret,
						       const char **ret_at,
						       size_t *ret_length)
{
	struct dlprof_set_entry entry = {.place = NULL};
	enum dlprof_set_problem problem;

	for (ret->count = 0;; ret->count++) {
		*ret_at = text;
		*ret_length = strcspn(text, ",;");
		if (ret->count == DLPROF_SET_MOST)
			return DLPROF_SET_TOO_MANY;
		problem = dlprof_set_take(text, *ret_length, &entry);
		ret->entries[ret->count] = entry;
		if (problem)
			return problem;
		text += *ret_length;
		if (!*text) {
			ret->count++;
			return DLPROF_SET_FINE;
		}
		if (*text++ == ';')
			entry = (struct dlprof_set_entry){.place = NULL};
	}
}

/*
 * Returns the value for a loader made at `place`, such as "train.py:16 in main"; -1: not set.
 * Settings for this place win over those for all loaders, and later settings over earlier ones.
 */
static inline int32_t dlprof_set_wanted(const struct dlprof_set_list *list, enum dlprof_set key,
					const char *place)
{
	int32_t wanted = -1;
	bool is_of_place = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct dlprof_set_entry *entry = &list->entries[i];
		bool is_here = entry->place && place &&
			       strncmp(place, entry->place, entry->place_length) == 0 &&
			       (place[entry->place_length] == ' ' || !place[entry->place_length]);

		if (entry->key != key || (entry->place && !is_here) || (is_of_place && !is_here))
			continue;
		wanted = entry->value;
		is_of_place = is_here;
	}
	return wanted;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mask.h"

#include <string.h>

#include "base/sys.h"
#include "dlprof/units.h"

#define MASK "***"

/* Words of a name, which end at "-_.", at digits and where capitals begin: apiKey is "api", "key".
 */
#define LONGEST_WORD 16

/* What the name stands for is secret... */
static const char strong_words[] =
	" password passwords passwd passphrase pwd secret secrets credential credentials creds"
	" apikey authtoken accesstoken accesskey secretkey privatekey authorization ";

/* ...or often so; a short number or one of plain_values after it is not... */
static const char weak_words[] = " key token auth pass sig signature ";
static const char plain_values[] = " true false none null yes no on off lambda ";

/* ...nor is it beside one of these words... */
static const char harmless_words[] =
	" attention audio backward batch bias bos caption class cls column columns count"
	" dataset dict dim disable embed embedding enable end eos feature features field"
	" foreign forward frame frames group id ids image images index input inputs"
	" interval label len length level limit mask max metric min no norm num number"
	" output outputs pad padding partition position primary proj query rate sample sep"
	" size skip sort special split start target text unk use video vocab weight ";

/* ...and with one of these it is where the secret lies. */
static const char place_words[] = " dir file filename folder mode name path type uri url ";

/* A token that begins so, and has so many letters and digits in a row behind that. */
static const struct shape {
	const char *begin;
	size_t least;
} shapes[] = {
	{"hf_", 16},   {"sk-", 12},    {"github_pat_", 16}, {"ghp_", 16},  {"gho_", 16},
	{"ghs_", 16},  {"ghu_", 16},   {"glpat-", 6},       {"AKIA", 16},  {"ASIA", 16},
	{"AIza", 10},  {"nvapi-", 12}, {"xoxb-", 10},       {"xoxp-", 10}, {"xoxa-", 10},
	{"xoxs-", 10}, {"xapp-", 10},  {"eyJ", 14},
};

enum secrecy { PLAIN, WEAK, STRONG };

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'';
}

static bool is_of_name(char c)
{
	return text_is_letter(c) || text_is_digit(c) || c == '_' || c == '-' || c == '.';
}

/* Not strncasecmp(), which depends on the host's locale. */
static bool is_word_of(const char *list, const char *word, size_t length)
{
	char wanted[LONGEST_WORD + 3] = " ";

	if (!length || length > LONGEST_WORD)
		return false;
	for (size_t i = 0; i < length; i++)
		wanted[1 + i] = text_is_capital(word[i]) ? (char)(word[i] | 0x20) : word[i];
	wanted[1 + length] = ' ';
	return strstr(list, wanted) != NULL;
}

/* "PGPASSWORD" and the like, too. */
static bool is_strong(const char *word, size_t length)
{
	for (; length; word++, length--)
		if (is_word_of(strong_words, word, length))
			return true;
	return false;
}

static const char *word_end(const char *at, const char *end)
{
	const char *stop = at;

	while (stop < end && text_is_capital(*stop))
		stop++;
	/* "HFToken" is "HF", "Token"; "API" is one. */
	if (stop - at > 1 && stop < end && text_is_letter(*stop))
		return stop - 1;
	while (stop < end && text_is_letter(*stop) && !text_is_capital(*stop))
		stop++;
	return stop;
}

static enum secrecy secrecy_of(const char *name, const char *end)
{
	enum secrecy found = PLAIN;
	bool harmless = false;

	while (name < end) {
		const char *stop = word_end(name, end);
		size_t length = (size_t)(stop - name);

		if (!length) {
			name++;
			continue;
		}
		if (is_word_of(place_words, name, length))
			return PLAIN;
		if (is_strong(name, length))
			found = STRONG;
		else if (is_word_of(weak_words, name, length) && found == PLAIN)
			found = WEAK;
		harmless |= is_word_of(harmless_words, name, length);
		name = stop;
	}
	return found == WEAK && harmless ? PLAIN : found;
}

/* After a weak name, "512", "1e-4" and "True" are not secrets. */
static bool is_plain_value(const char *at, const char *end)
{
	const char *stop = at;

	while (stop < end && (text_is_digit(*stop) || *stop == '.' || *stop == '-' || *stop == 'e'))
		stop++;
	if (stop == end)
		return end - at <= 8;
	return is_word_of(plain_values, at, (size_t)(end - at));
}

/* Behind the string that begins here. */
static const char *string_end(const char *at, const char *end)
{
	char quote = *at++;

	for (; at < end && *at != quote; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at < end ? at + 1 : end;
}

/* Strings and what stands in brackets belong to a value whole. */
static const char *value_end(const char *at, const char *end)
{
	int depth = 0;

	while (at < end) {
		if (*at == '\\' && at + 1 < end && is_quote(at[1])) {
			/* A string within a string, to the next quote of the same kind. */
			const char *close = memchr(at + 2, at[1], (size_t)(end - at - 2));

			at = close ? close + 1 : end;
			continue;
		}
		if (is_quote(*at)) {
			at = string_end(at, end);
			continue;
		}
		if (strchr("([{", *at))
			depth++;
		else if (depth && strchr(")]}", *at))
			depth--;
		else if (!depth && (is_space(*at) || strchr(",;&|)]}", *at)))
			break;
		at++;
	}
	return at;
}

static const char *skip_spaces(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

static void add(struct text *out, const char *at, const char *end)
{
	text_add_bytes(out, at, (size_t)(end - at));
}

/* Adds the value of a secret name, and returns what is behind it. */
static const char *add_value(struct text *out, enum secrecy secrecy, const char *at,
			     const char *end, const char *stop)
{
	static const char schemes[] = " bearer basic digest token ";

	if (secrecy == WEAK && is_plain_value(at, stop)) {
		add(out, at, stop);
		return stop;
	}
	if (is_word_of(schemes, at, (size_t)(stop - at)))
		stop = value_end(skip_spaces(stop, end), end);
	if (stop > at)
		text_add(out, MASK);
	return stop;
}

/* Behind "name", quotes and brackets around it, and '=' or ':'; NULL: nothing is assigned. */
static const char *assigned(const char *at, const char *end)
{
	while (at < end && (is_space(*at) || strchr("\"'\\])", *at)))
		at++;
	if (at == end || (*at != '=' && *at != ':'))
		return NULL;
	at += *at == ':' && at + 1 < end && at[1] == '=' ? 2 : 1;
	if (at < end && *at == '=')
		return NULL;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Behind the token of a known shape that begins here, or NULL. */
static const char *shape_end(const char *at, const char *end)
{
	for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
		size_t length = strlen(shapes[i].begin);
		const char *stop = at + length;
		size_t row = 0, longest = 0;
		bool mixed = false;

		if ((size_t)(end - at) < length || memcmp(at, shapes[i].begin, length) != 0)
			continue;
		for (; stop < end && is_of_name(*stop); stop++) {
			/* Only small letters are a name, not a token: hf_transformerscache. */
			mixed |= text_is_digit(*stop) || text_is_capital(*stop);
			row = text_is_letter(*stop) || text_is_digit(*stop) ? row + 1 : 0;
			longest = row > longest ? row : longest;
		}
		if (mixed && longest >= shapes[i].least)
			return stop;
	}
	return NULL;
}

/* Behind the '@' of "USER:PASSWORD@host", or NULL. */
static const char *credentials_end(const char *at, const char *end)
{
	while (at < end && !is_space(*at) && !is_quote(*at) && !strchr("/?#@", *at))
		at++;
	return at < end && *at == '@' ? at + 1 : NULL;
}

/* Adds letters, digits, "-_." up to `stop`, and a value if they are its name; returns what is
 * behind. `whole`: the argument is one word, and the value is all that is left of it. */
static const char *add_name(struct text *out, const char *at, const char *stop, const char *end,
			    bool whole)
{
	enum secrecy secrecy;
	const char *value;

	for (const char *part = at; part < stop; part++) {
		const char *behind = part == at || !(text_is_letter(part[-1]) ||
						     text_is_digit(part[-1]) || part[-1] == '_')
					     ? shape_end(part, end)
					     : NULL;

		if (behind) {
			add(out, at, part);
			text_add(out, MASK);
			return behind;
		}
	}
	add(out, at, stop);
	if (end - stop > 3 && memcmp(stop, "://", 3) == 0) {
		value = credentials_end(stop + 3, end);
		text_add(out, "://");
		if (value)
			text_add(out, MASK "@");
		return value ? value : stop + 3;
	}
	value = skip_spaces(stop, end);
	if (is_word_of(" bearer ", at, (size_t)(stop - at)) && value > stop) {
		add(out, stop, value);
		return add_value(out, STRONG, value, end, value_end(value, end));
	}
	secrecy = secrecy_of(at, stop);
	value = secrecy == PLAIN ? NULL : assigned(stop, end);
	if (!value)
		return stop;
	add(out, stop, value);
	return add_value(out, secrecy, value, end, whole ? end : value_end(value, end));
}

static bool has_space(const char *at, const char *end)
{
	for (; at < end; at++)
		if (is_space(*at) || is_quote(*at))
			return true;
	return false;
}

static void add_words(struct text *out, const char *at, const char *end)
{
	bool whole = !has_space(at, end) && !strchr("([{", *at);

	while (at < end) {
		const char *stop = at;

		while (stop < end && is_of_name(*stop))
			stop++;
		if (stop > at) {
			at = add_name(out, at, stop, end, whole);
			whole = false;
		} else {
			add(out, at, at + 1);
			at++;
		}
	}
}

/* Adds an argument; returns whether the next one is a secret: the value of an option. */
static enum secrecy add_argument(struct text *out, const char *at, const char *end,
				 enum secrecy secrecy)
{
	static const char key[] = "-----BEGIN ";
	const char *stop = at, *bare = at;

	if (at == end)
		return PLAIN;
	while (stop < end && is_of_name(*stop))
		stop++;
	if (secrecy != PLAIN && *at != '-') {
		add_value(out, secrecy, at, end, end);
		return PLAIN;
	}
	if ((size_t)(end - at) >= strlen(key) && memcmp(at, key, strlen(key)) == 0) {
		text_add(out, MASK);
		return PLAIN;
	}
	while (bare < end && *bare == '-')
		bare++;
	if (bare > at && stop == end && !shape_end(bare, end)) {
		add(out, at, end);
		return secrecy_of(at, end);
	}
	if (bare > at && stop < end && *stop == '=' && secrecy_of(at, stop) != PLAIN) {
		add(out, at, stop + 1);
		add_value(out, secrecy_of(at, stop), stop + 1, end, end);
		return PLAIN;
	}
	if (is_word_of(" bearer ", at, (size_t)(end - at))) {
		add(out, at, end);
		return STRONG;
	}
	add_words(out, at, end);
	return PLAIN;
}

void mask_arguments(struct text *out, const char *arguments, size_t size, bool cut)
{
	const char *at = arguments, *end = arguments + size, *stop;
	enum secrecy next = PLAIN;

	while (cut && end > at && end[-1] && !is_space(end[-1]))
		end--;
	while (end > at && !end[-1])
		end--;
	for (; at < end; at = stop + 1) {
		stop = memchr(at, '\0', (size_t)(end - at));
		if (!stop)
			stop = end;
		next = add_argument(out, at, stop, next);
		if (stop < end)
			text_add(out, " ");
	}
	if (cut)
		text_add(out, "...");
}

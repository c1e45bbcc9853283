/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mask.h"

#include <string.h>

#include "dlprof/units.h"

#define MASK "***"

/*
 * Says which value after a name is masked. USER: one like "joe:password". WEAK: all but short
 * numbers and booleans. STRONG: every value. LATER: further values after a STRONG name.
 */
enum secrecy { SHOWN, USER, WEAK, LATER, STRONG, SECRECY_MAX };

/* Words that make a name secret. '-' is the name's end, so "-key" is not in "keyboard". */
static const char *const secret_words[SECRECY_MAX][22] = {
	[USER] = {"user", "login"},
	[WEAK] = {"token", "-key", "-auth", "authent", "private", "-sig", "signature", "-sas",
		  "-pat", "-jwt", "webhook", "license", "session"},
	[STRONG] = {"pass", "-pwd", "-pw", "-pin", "secret", "-cred", "credent", "cookie", "bearer",
		    "authoriz", "-otp", "-psk", "-cvv", "-dsn", "-sid", "mnemonic", "pincode"},
};

static const char *const benign[] = {"tokeniz", "tokenis", "passe", "pin_mem", "pin-mem", "pinmem"};

static const char *const token_begins[] = {
	"sk_live_", "sk_test_", "npm_",  "sg.",    "ya29.",        "ghp_",
	"akia",     "xox",      "xapp-", "glpat-", "hooks.slack.", " -p",
};

/* followers[c - 'a'] has a bit for each letter that often follows the letter c in names. */
static const uint32_t followers[] = {
	0x1febd6e, 0x016d915, 0x11edd9d, 0x01edd7b, 0x1fffd7f, 0x11ec931, 0x01ef9dd,
	0x11a4111, 0x2aef87f, 0x0040011, 0x0044111, 0x11cd91d, 0x014d91f, 0x13cfd7f,
	0x0fefd6f, 0x11ed9dd, 0x0100800, 0x13efd7f, 0x17dfdfd, 0x15eddbd, 0x00eb95f,
	0x0004111, 0x0044111, 0x0089914, 0x00ef87f, 0x0000110,
};

static bool is_of_word(char c)
{
	return text_is_letter(c) || text_is_digit(c) || (c & 0x80);
}

/* Returns true if the text begins with `word`, which is in lower case, in any case. */
static bool begins_with(const char *at, const char *end, const char *word)
{
	for (; *word && at < end && (text_is_capital(*at) ? *at | 0x20 : *at) == *word; at++)
		word++;
	return !*word;
}

static bool is_word_at(const char *at, const char *end, const char *word)
{
	bool ends = *word == '-';
	const char *behind = at + strlen(word += ends);

	if (!begins_with(at, end, word))
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(benign); i++)
		if (begins_with(at, end, benign[i]))
			return false;
	behind += behind < end && *behind == 's';
	return !ends || behind == end || !text_is_letter(*behind) || text_is_capital(*behind);
}

static enum secrecy secrecy_of(const char *name, const char *end)
{
	enum secrecy found = SHOWN;

	if (end - name == 2 && *name == '-') /* as in -p PORT, -b BATCHES, -u USER:X */
		return strchr("pPb", name[1]) ? WEAK : strchr("uU", name[1]) ? USER : SHOWN;
	for (const char *at = name; at < end; at++)
		for (enum secrecy secrecy = STRONG; secrecy > found; secrecy--)
			for (size_t i = 0; secret_words[secrecy][i]; i++)
				if (is_word_at(at, end, secret_words[secrecy][i]))
					found = secrecy;
	return found;
}

/* Returns true if a value is secret. USER: if it has a ':'; WEAK: unless a short number or bool. */
static bool is_secret(enum secrecy secrecy, const char *at, const char *end)
{
	size_t size = (size_t)(end - at), digits = 0;

	if (secrecy != WEAK || (size == 4 && begins_with(at, end, "true")) ||
	    (size == 5 && begins_with(at, end, "false")))
		return secrecy > WEAK || (secrecy == USER && memchr(at, ':', size));
	for (; at < end && (text_is_digit(*at) || strchr(".eE+-", *at)); at++)
		digits += text_is_digit(*at);
	return at < end || !digits || digits > 6 || size > 9;
}

/* Counts changes between letters and digits or to capitals, and rare pairs of letters. */
static size_t oddness(const char *from, const char *end)
{
	size_t turns = 0, odd = 0, length = (size_t)(end - from);

	for (const char *at = from + 1; at < end; at++)
		if (text_is_digit(*at) != text_is_digit(at[-1]))
			turns++;
		else if (text_is_capital(*at) && !text_is_capital(at[-1]))
			odd++;
		else if (text_is_letter(*at) && text_is_letter(at[-1]))
			odd += !(followers[(at[-1] | 0x20) - 'a'] >> ((*at | 0x20) - 'a') & 1);
	odd += turns;
	return turns > 3 || (length > 5 && 6 * odd > 9 + length) ? SIZE_MAX / 8 : odd;
}

static bool is_plain(const char *begin, const char *end)
{
	size_t odd = 0, length = 0;

	for (const char *at = begin, *stop; at < end; at = stop + (stop == at)) {
		for (size_t i = 0; i < ARRAY_COUNT(token_begins); i++)
			if (begins_with(at, end, token_begins[i]))
				return false;
		for (stop = at; stop < end && is_of_word(*stop);)
			stop++;
		odd += oddness(at, stop);
		length += (size_t)(stop - at);
		if (6 * odd > 18 + length)
			return false;
		if (stop > at || strchr(" -_.+", *at))
			continue;
		if (strchr("/,:=", *at))
			odd = length = 0;
		else if (!strchr("[]{}()<>|*~%\"'", *at) ||
			 (at > begin && is_of_word(at[-1]) &&
			  (*at == '(' || (at + 1 < end && is_of_word(at[1])))))
			return false;
	}
	return end - begin < 3 || memcmp(begin, "-p", 2) != 0;
}

static void add_value(struct text *out, const char *begin, const char *end)
{
	bool is_path = false;

	for (const char *at = begin, *stop; at < end; at = stop) {
		if (at == begin || at[-1] == '=')
			is_path = strchr("/.~", *at) && !memchr(at, '@', (size_t)(end - at));
		for (stop = at + 1; stop < end && (*stop != '/' || !is_path); stop++)
			if (stop[-1] == '=' && !memchr(at, ':', (size_t)(stop - at)) &&
			    is_plain(at, stop))
				break;
		if (is_plain(at, stop))
			text_add_bytes(out, at, (size_t)(stop - at));
		else
			text_add(out, is_path && *at == '/' ? "/" MASK : MASK);
	}
}

/* Adds one argument. `last`, what the previous call returned, says whether it is masked. */
static enum secrecy add_one(struct text *out, const char *at, const char *end, enum secrecy last)
{
	const char *stop, *value;

	if (is_secret(last, at, end) &&
	    (last == STRONG || end - at < 3 || memcmp(at, "--", 2) != 0)) {
		text_add(out, MASK);
		return last == STRONG ? LATER : last == USER ? SHOWN : last;
	}
	for (const char *name = at; name < end; name = stop + (stop == name)) {
		for (stop = name; stop < end && (is_of_word(*stop) || strchr("-_.", *stop));)
			stop++;
		last = secrecy_of(name, stop);
		for (value = stop; last && value < end && strchr("=:\"' [])", *value);)
			value++;
		if (last && value == end && (name == at || name[-1] != '/'))
			break;
		if (value > stop && is_secret(last, value, end)) {
			if (is_plain(at, value))
				text_add_bytes(out, at, (size_t)(value - at));
			text_add(out, MASK);
			return SHOWN;
		}
		last = SHOWN;
	}
	add_value(out, at, end);
	return last;
}

void mask_arguments(struct text *out, const char *arguments, size_t size, bool cut)
{
	const char *at = arguments, *end = arguments + size, *stop;
	enum secrecy next = SHOWN;

	while (end > at && !end[-1] == !cut)
		end--;
	for (; at < end; at = stop + 1) {
		stop = at + strnlen(at, (size_t)(end - at));
		next = add_one(out, at, stop, next);
		text_add(out, stop < end ? " " : "");
	}
	text_add(out, cut ? "..." : "");
}

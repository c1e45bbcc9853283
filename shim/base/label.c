/* SPDX-License-Identifier: Apache-2.0 */
#include "base/label.h"

#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "dlprof/units.h"

#define NAME_MAX  1024 /* registered */
#define PLAIN_MAX 768  /* of them with their numbers */
#define WORD_MAX  16

static char names[NAME_MAX][LABEL_BYTES];
static _Atomic uint32_t hashes[NAME_MAX]; /* of them; 0: not there yet */
static _Atomic uint32_t name_count;

/* Cut to fit, but not within a character: bytes 10xxxxxx continue the one before. */
void label_copy(char *label, const char *text)
{
	size_t length = text ? strnlen(text, LABEL_BYTES) : 0;

	if (length == LABEL_BYTES)
		for (length--; length && ((unsigned char)text[length] & 0xc0) == 0x80; length--)
			continue;
	memcpy(label, text ? text : "", length);
	memset(label + length, 0, LABEL_BYTES - length);
}

/* How many bytes of UTF-8 it takes; an invalid character becomes '?'. */
static size_t encode(char *bytes, uint32_t c)
{
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		bytes[0] = '?';
		return 1;
	}
	for (size_t i = more; i; i--, c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(first[more] | c);
	return more + 1;
}

void label_copy_wide(char *label, const wchar_t *text)
{
	size_t length = 0, more;
	char bytes[4];

	for (; text && *text; text++, length += more) {
		more = encode(bytes, (uint32_t)*text);
		if (length + more >= LABEL_BYTES)
			break;
		memcpy(label + length, bytes, more);
	}
	memset(label + length, 0, LABEL_BYTES - length);
}

static uint32_t hash_of(const char *text)
{
	uint32_t hash = 2166136261u;

	while (*text)
		hash = (hash ^ (uint8_t)*text++) * 16777619u;
	return hash | 1;
}

static char lower(char c)
{
	return text_is_capital(c) ? (char)(c | 0x20) : c;
}

static void drop_numbers(char *plain, const char *label)
{
	size_t length = 0;

	for (; *label; label++)
		if (!text_is_digit(*label))
			plain[length++] = *label;
		else if (!length || plain[length - 1] != '#')
			plain[length++] = '#';
	memset(plain + length, 0, LABEL_BYTES - length);
}

/* Threads that register one name at once may give it two places, which does no harm. */
static const void *find_or_add(const char *label, uint32_t most)
{
	const uint32_t hash = hash_of(label);
	uint32_t place = 0;

	for (; place < name_count; place++)
		if (hashes[place] == hash && strncmp(names[place], label, LABEL_BYTES) == 0)
			return names[place];
	while (place < most && !atomic_compare_exchange_weak(&name_count, &place, place + 1))
		continue;
	if (place >= most)
		return NULL;
	memcpy(names[place], label, LABEL_BYTES);
	hashes[place] = hash;
	return names[place];
}

const void *label_register(const char *label)
{
	char plain[LABEL_BYTES];
	const void *handle;

	if (!label[0])
		return NULL;
	handle = find_or_add(label, PLAIN_MAX);
	if (handle)
		return handle;
	drop_numbers(plain, label);
	return find_or_add(plain, NAME_MAX);
}

const char *label_of(const void *handle)
{
	uintptr_t at = (uintptr_t)handle - (uintptr_t)names;

	return handle && at < sizeof(names) && at % LABEL_BYTES == 0 ? names[at / LABEL_BYTES]
								     : NULL;
}

/* The next word of letters, in lower case; a capital after a small letter begins one. */
static const char *next_word(const char *text, char *word)
{
	size_t length = 0;

	while (*text && !text_is_letter(*text))
		text++;
	for (; text_is_letter(*text); text++) {
		if (length && *text != lower(*text) && text[-1] == lower(text[-1]))
			break;
		if (length < WORD_MAX - 1)
			word[length++] = lower(*text);
	}
	word[length] = '\0';
	return text;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

static bool is_named_step(const char *label)
{
	static const char *const steps[] = {"step", "iteration", "iter"};
	static const char *const before[] = {"train",    "training", "trainer", "global",
					     "profiler", "main",     "loop",    "epoch"};
	char word[WORD_MAX], next[WORD_MAX];

	for (label = next_word(label, word); word[0]; memcpy(word, next, sizeof(word))) {
		label = next_word(label, next);
		if (!next[0])
			return is_one_of(word, steps, ARRAY_COUNT(steps));
		if (!is_one_of(word, before, ARRAY_COUNT(before)))
			return false;
	}
	return false;
}

/* It begins with that, and no letter follows. */
static bool is_wanted(const char *label, const char *wanted)
{
	size_t length = strlen(wanted);

	if (strncmp(label, wanted, length) != 0)
		return false;
	for (label += length; *label; label++)
		if (text_is_letter(*label))
			return false;
	return true;
}

bool label_is_step(const char *label, const char *wanted)
{
	return wanted ? is_wanted(label, wanted) : is_named_step(label);
}

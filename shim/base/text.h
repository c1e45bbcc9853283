/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - builds a line on the stack, without stdio and allocation. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dlprof/event.h"

struct text {
	char *buffer;
	size_t size;
	size_t length;
	bool cut;
};

#define TEXT(name, bytes)                                                                          \
	char name##_buffer[bytes];                                                                 \
	struct text name;                                                                          \
	text_init(&name, name##_buffer, sizeof(name##_buffer))

void text_init(struct text *text, char *buffer, size_t size);
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t size);
void text_add_number(struct text *text, int64_t number);

/* Adds what printf() writes for %s, %d, %u, %ld, %lu (below 2^63). Other formats end the text. */
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_format_list(struct text *text, const char *format, va_list values)
	__attribute__((format(printf, 2, 0)));

/* Copies a string into a field, cut to the field's size. */
void text_copy(char *field, size_t size, const char *string);

/* Returns true for the digits 0 to 9 only, in any locale. */
static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool text_is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool text_is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Returns a name or, if it is longer than fits, its end, which says more than its beginning. */
static inline const char *text_end(const char *name, size_t size)
{
	const size_t length = strlen(name);

	return length < size ? name : name + length - (size - 1);
}

/* Returns words for an error that the user can mend. */
const char *text_error(int error);

/* Reads a file and appends a 0. Returns the text's length or -errno. */
int text_read_file(const char *path, char *buffer, size_t size);

#define LABEL_BYTES DLPROF_MARK_BYTES

/* Copies the name of a range, cut to DLPROF_MARK_BYTES. */
void label_copy(char *label, const char *text);

/*
 * Returns true if the name begins with `wanted`. If `wanted` is NULL, the letters must be "step",
 * "iteration" or "iter", perhaps after a word like "train": "epoch 3 step 7", not "optimizer.step".
 */
bool label_is_step(const char *label, const char *wanted);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonw.h - writes JSON one value at a time, with commas, escapes and null.
 *
 * NULL strings, UNKNOWN and NAN become null, and so does infinity, which JSON lacks. Strings become
 * valid UTF-8, whatever their bytes are; characters that are not printable (utf8.h) become \uXXXX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct jsonw {
	FILE *out;
	int depth;
	bool full;
	bool is_in_page; /* in an HTML page: strings have no < and no direction overrides */
};

void jsonw_init(struct jsonw *json, FILE *out);

/* Begins the outermost object with its schema's name. */
void jsonw_begin(struct jsonw *json, FILE *out, const char *schema);

/* In all functions below, `key` is NULL for elements of a list and for the outermost value. */

/* Writes the comma and key before a value. The caller writes the value itself, as JSON. */
void jsonw_lead(struct jsonw *json, const char *key);

void jsonw_open(struct jsonw *json, const char *key, char bracket);
void jsonw_close(struct jsonw *json, char bracket);

void jsonw_string(struct jsonw *json, const char *key, const char *value);

/* Writes a string; NULL and "" become null. */
void jsonw_words(struct jsonw *json, const char *key, const char *value);

/* Writes the list "a,b" as ["a","b"]; NULL becomes null. */
void jsonw_list(struct jsonw *json, const char *key, const char *list);

/* Writes the members of `object`: a JSON text "{...}" that has at least one member. */
void jsonw_members(struct jsonw *json, const char *object);

void jsonw_bool(struct jsonw *json, const char *key, bool value);
void jsonw_null(struct jsonw *json, const char *key);
void jsonw_int(struct jsonw *json, const char *key, int64_t value);
void jsonw_number(struct jsonw *json, const char *key, double value);
#define jsonw_size(json, key, value)  jsonw_int(json, key, (int64_t)(value))
#define jsonw_share(json, key, value) jsonw_number(json, key, value)

/* Writes a count without its fraction; a negative count or NAN becomes null. */
void jsonw_whole(struct jsonw *json, const char *key, double count);

/* Writes [low, high], or null if the range is unknown. */
void jsonw_range(struct jsonw *json, const char *key, double low, double high);

void jsonw_ns(struct jsonw *json, const char *key, int64_t ns);

/* Writes nanoseconds from a double as seconds; NAN becomes null. */
void jsonw_seconds(struct jsonw *json, const char *key, double ns);

void jsonw_us(struct jsonw *json, const char *key, int64_t ns);

/* Copies the rest of the file `value`, which must contain a JSON value; NULL becomes null. */
void jsonw_copy(struct jsonw *json, const char *key, FILE *value);

/* Writes 0 as false, UNKNOWN as null, and any other value as true. */
void jsonw_tristate(struct jsonw *json, const char *key, int64_t value);

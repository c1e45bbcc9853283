/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonw.h - write JSON one value at a time, with commas, escapes and null.
 *
 * Values that were not observed become null: NULL strings, UNKNOWN, NAN. Infinity does not
 * exist in JSON and becomes null too. Strings become valid UTF-8 whatever they hold; characters
 * that are not printable (utf8.h) become \uXXXX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct jsonw {
	FILE *out;
	int depth;
	bool full; /* the open object or list has a member */
	bool is_in_page; /* strings must hold nothing special for HTML, nor turn text around */
};

void jsonw_init(struct jsonw *json, FILE *out);

/* Begins the outermost object, with its schema's name. */
void jsonw_begin(struct jsonw *json, FILE *out, const char *schema);

/* Here and below, `key` is NULL in a list and for the outermost value. */
void jsonw_open(struct jsonw *json, const char *key, char bracket);
void jsonw_close(struct jsonw *json, char bracket);

void jsonw_string(struct jsonw *json, const char *key, const char *value);

/* Writes a string; NULL and "": null. */
void jsonw_words(struct jsonw *json, const char *key, const char *value);

/* Writes "a,b" as ["a","b"]; NULL: null. */
void jsonw_list(struct jsonw *json, const char *key, const char *list);

/* Writes the members of an object that is JSON already: "{...}", with at least one. */
void jsonw_members(struct jsonw *json, const char *object);

void jsonw_bool(struct jsonw *json, const char *key, bool value);
void jsonw_null(struct jsonw *json, const char *key);
void jsonw_int(struct jsonw *json, const char *key, int64_t value);
void jsonw_number(struct jsonw *json, const char *key, double value);
#define jsonw_size(json, key, value)  jsonw_int(json, key, (int64_t)(value))
#define jsonw_share(json, key, value) jsonw_number(json, key, value)

/* Writes a count without its fraction; less than 0, NAN: null. */
void jsonw_whole(struct jsonw *json, const char *key, double count);

/* [low, high], or null. */
void jsonw_range(struct jsonw *json, const char *key, double low, double high);

/* Nanoseconds, written as seconds. */
void jsonw_ns(struct jsonw *json, const char *key, int64_t ns);

/* Writes such a time from a double; NAN: null. */
void jsonw_seconds(struct jsonw *json, const char *key, double ns);

/* Writes nanoseconds as microseconds. */
void jsonw_us(struct jsonw *json, const char *key, int64_t ns);

/* Copies a value that is JSON in the file, to its end; NULL: null. */
void jsonw_copy(struct jsonw *json, const char *key, FILE *value);

/* 0: false, other: true, UNKNOWN: null. */
void jsonw_tristate(struct jsonw *json, const char *key, int64_t value);

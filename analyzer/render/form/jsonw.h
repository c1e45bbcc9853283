/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonw.h - write JSON one value at a time: commas, escapes and null are dealt with here.
 *
 * What is not observed is null: NULL strings, SERIES_UNKNOWN, NAN. Infinity does not exist in JSON
 * and becomes null too. Strings come out as valid UTF-8 whatever they hold; what is not printable
 * (utf8.h) comes out as \uXXXX.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct jsonw {
	FILE *out;
	int depth;
	bool full; /* the open object or list has a member */
	bool is_in_page; /* strings hold nothing that means something to HTML, or turns text around
			  */
};

void jsonw_init(struct jsonw *json, FILE *out);

/* The same, and the outermost object with its schema's name. */
void jsonw_begin(struct jsonw *json, FILE *out, const char *schema);

/* `key` is NULL in a list and for the outermost value, here and below. */
void jsonw_open(struct jsonw *json, const char *key, char bracket);
void jsonw_close(struct jsonw *json, char bracket);

void jsonw_string(struct jsonw *json, const char *key, const char *value);

/* All members of an object that is JSON already: "{...}"; there is at least one. */
void jsonw_members(struct jsonw *json, const char *object);

void jsonw_bool(struct jsonw *json, const char *key, bool value);
void jsonw_null(struct jsonw *json, const char *key);
void jsonw_int(struct jsonw *json, const char *key, int64_t value);
void jsonw_number(struct jsonw *json, const char *key, double value);

/* [low, high], or null. */
void jsonw_range(struct jsonw *json, const char *key, double low, double high);

/* Nanoseconds, written as seconds. */
void jsonw_ns(struct jsonw *json, const char *key, int64_t ns);

/* The same of a double; NAN: null. */
void jsonw_seconds(struct jsonw *json, const char *key, double ns);

/* ..., as microseconds. */
void jsonw_us(struct jsonw *json, const char *key, int64_t ns);

/* A value that the file holds as JSON, to its end; NULL: null. */
void jsonw_copy(struct jsonw *json, const char *key, FILE *value);

/* 0: false, other: true, SERIES_UNKNOWN: null. */
void jsonw_tristate(struct jsonw *json, const char *key, int64_t value);

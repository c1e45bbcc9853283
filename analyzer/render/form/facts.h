/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - macros that make a table of facts into code that writes the facts as JSON.
 * analyzer/manual makes pages of the manual from the same tables. Include a table in a function
 * that has a `struct jsonw *json`.
 *
 *	FACT(key, type, value, meaning)          type: a function jsonw_TYPE()
 *	RANGE(key, low, high, meaning)           [low, high]; null if unknown
 *	OBJECT(key, is_known, meaning) ... END   an object; null if not is_known
 *	LIST(key, is_known, count, is_listed, meaning) ... END_LIST
 *	                                         a list of objects, one for each `i` that is listed
 *	MAP(key, count, names, meaning) ... END_MAP
 *	                                         an object of objects, one for each name
 *	VALUES(key, count, is_listed, type, value, meaning)
 *	                                         a list of values, one for each `k` that is listed
 *	ONLY_IF(condition) ... END_IF            rows that are written only where it holds
 *	NOTHING(key, meaning)                    null
 *	LET(declaration)                         a variable for the rows up to the END
 */
#pragma once

#include "render/form/jsonw.h"

/* clang-format off */
#define FACT(key, type, value, meaning) jsonw_##type(json, key, value);
#define RANGE(key, low, high, meaning)  jsonw_range(json, key, low, high);
#define NOTHING(key, meaning)           jsonw_null(json, key);
#define LET(...)                        __VA_ARGS__;
#define ONLY_IF(condition)              if (condition) {
#define END_IF                          }
#define OBJECT(key, is_known, meaning)                                                             \
	if (!(is_known)) {                                                                         \
		jsonw_null(json, key);                                                             \
	} else {                                                                                   \
		jsonw_open(json, key, '{');
#define END                                                                                        \
		jsonw_close(json, '}');                                                            \
	}
#define LIST(key, is_known, count, is_listed, meaning)                                             \
	if (!(is_known)) {                                                                         \
		jsonw_null(json, key);                                                             \
	} else {                                                                                   \
		jsonw_open(json, key, '[');                                                        \
		for (size_t i = 0; i < (size_t)(count); i++) {                                     \
			if (!(is_listed))                                                          \
				continue;                                                          \
			jsonw_open(json, NULL, '{');
#define END_LIST                                                                                   \
			jsonw_close(json, '}');                                                    \
		}                                                                                  \
		jsonw_close(json, ']');                                                            \
	}
#define MAP(key, count, names, meaning)                                                            \
	jsonw_open(json, key, '{');                                                                \
	for (size_t i = 0; i < (size_t)(count); i++) {                                             \
		jsonw_open(json, names[i], '{');
#define END_MAP                                                                                    \
		jsonw_close(json, '}');                                                            \
	}                                                                                          \
	jsonw_close(json, '}');
#define VALUES(key, count, is_listed, type, value, meaning)                                        \
	jsonw_open(json, key, '[');                                                                \
	for (size_t k = 0; k < (size_t)(count); k++)                                               \
		if (is_listed)                                                                     \
			jsonw_##type(json, NULL, value);                                           \
	jsonw_close(json, ']');
/* clang-format on */

/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - names the keys of the table `meta`, which has facts about the run, and reads it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "store/database/db.h"
#include "store/database/redact.h"

enum meta {
#define META(id, key, type, by, meaning) META_##id,
#include "dlprof/meta.def"
	META_MAX
};

const char *meta_key(enum meta meta);

/* Returns true for a key that a recorded process may note. */
bool meta_is_noted(const char *key);

/* Returns how --redact prints the value of a key. The values of unknown keys are hidden. */
enum redact_kind meta_redact_kind(const char *key);

/* meta_read() puts the value at `offset`: as an `int64_t` if it is a number, else as a `char *`. */
struct meta_field {
	enum meta meta;
	size_t offset;
};

/* Fills the struct `ret`; missing keys give NULL or INT64_MIN. Call meta_free() in any case. */
int meta_read(struct db *db, void *ret, const struct meta_field *fields, size_t count);
void meta_free(void *of, const struct meta_field *fields, size_t count);

/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - the table of what is known of a run as a whole: its keys, and how to read them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/database/db.h"
#include "store/database/redact.h"

enum meta {
#define META(id, key, type, by, meaning) META_##id,
#include "dlprof/meta.def"
#undef META
	META_MAX
};

const char *meta_key(enum meta meta);

/* META_GPU_0 for any device; META_MAX: a key of no row. */
enum meta meta_find(const char *key);

/* May a recorded process set it? */
bool meta_is_noted(enum meta meta);

/* What --redact makes of a key's value. What is not known is not shown. */
enum redact_kind meta_redact_kind(const char *key);

/* Where a value goes: a `char *` or an `int64_t`, by the key's type. */
struct meta_field {
	enum meta meta;
	size_t offset;
};

/* Reads those keys: NULL and INT64_MIN where the run has none. To be freed also after an error. */
int meta_read(struct db *db, void *ret, const struct meta_field *fields, size_t count);
void meta_free(void *of, const struct meta_field *fields, size_t count);

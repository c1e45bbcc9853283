/* SPDX-License-Identifier: Apache-2.0 */
/* meta.h - names the keys of the table `meta`, facts about the whole run, and reads them. */
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

/* Finds a key; "gpu.1", "gpu.2", ... are all META_GPU_0. Returns META_MAX for an unknown key. */
enum meta meta_find(const char *key);

bool meta_is_noted(enum meta meta);

/* Returns how --redact prints a key's value. The value of an unknown key is hidden. */
enum redact_kind meta_redact_kind(const char *key);

/* meta_read() puts a value at `offset`: an `int64_t` if the key is a number, else a `char *`. */
struct meta_field {
	enum meta meta;
	size_t offset;
};

/* Fills the struct `ret`. A missing key gives NULL or INT64_MIN. Call meta_free() in any case. */
int meta_read(struct db *db, void *ret, const struct meta_field *fields, size_t count);
void meta_free(void *of, const struct meta_field *fields, size_t count);

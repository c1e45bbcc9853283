/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - wrappers that are not exported by name, with an instance for each real function.
 *
 * Two copies of libjpeg have two real functions of one name, and each caller gets its own (pool.c).
 * Each subject, such as decoders, has its own set of wrappers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/sys.h"
#include "dlprof/hash.h"

#define WRAP_INSTANCE_MAX 8
#define WRAP_ROW_MAX	  240

/* The real function behind a wrapper. A name has an instance for each library that defines it. */
struct wrap_target {
	void *real;	/* NULL: the instance is free. Written last, read without a lock */
	void **slot;	/* NULL, or a slot not bound yet: `real` is the PLT entry that binds it */
};

struct wrap_copy {
	void *helpers[2];	/* functions of the same copy of the library; NULL: none */
	bool foreign; /* lies in another namespace, where dlclose() is not seen: never freed */
};

/* `mark`: a function that only this library exports; NULL: not needed. Wrappers call `helpers`. */
struct wrap_library {
	const char *mark;
	const char *helpers[2];
};

/* An entry has no pointers, because ld.so would have to relocate them in every process. */
struct wrap_entry {
	uint16_t name;
	uint8_t library;
};

struct wrap_set {
	const struct wrap_library *libraries;
	const struct wrap_entry *entries;
	const char *names;
	struct wrap_target *targets; /* `count` targets for each instance number, as in `copies` */
	struct wrap_copy *copies;
	void *(*wrapper)(int entry, int instance);
	void (*reached)(int library);
	int count;
};

extern HIDDEN const struct wrap_set *const wrap_sets[];

/* A wrapped function of any set. wrap_index() fills these structs. */
struct wrap_row {
	const char *name;
	const struct wrap_set *set;
	const struct wrap_library *library;
	uint32_t hash;
	uint32_t mark_hash;	/* elf_hash() of library->mark, if there is one */
	int entry;
};

extern HIDDEN struct wrap_row wrap_rows[WRAP_ROW_MAX];
extern HIDDEN int wrap_row_count;

/* this many bytes tell "_ZN2cv6" from "_ZN2at", with which most names in torch begin */
#define WRAP_BEGIN_BYTES 7
#define WRAP_BEGIN_BITS	 13	/* of 50,000 other names, 1 in 60 passes this filter */

/* A bit for each hash of a row's first bytes. */
extern HIDDEN uint64_t wrap_begins[(1 << WRAP_BEGIN_BITS) / 64];

static inline struct wrap_target *wrap_target(int row, int instance)
{
	const struct wrap_set *set = wrap_rows[row].set;

	return &set->targets[instance * set->count + wrap_rows[row].entry];
}

static inline struct wrap_copy *wrap_copy(const struct wrap_set *set,
					  const struct wrap_target *target)
{
	return &set->copies[target - set->targets];
}

/* Fills the index of all rows. May be called again. */
void wrap_index(void);

/* Returns the row of the function, or -1. wrap_index() need not have been called. */
int wrap_row_of(const char *name);

/* Returns which bit of wrap_begins stands for names that begin with these bytes. */
static inline uint32_t wrap_begin(uint64_t bytes)
{
	bytes <<= 64 - 8 * WRAP_BEGIN_BYTES;
	return (uint32_t)(hash_word(0, bytes) >> (64 - WRAP_BEGIN_BITS));
}

/* Returns false if no row has this name, of which at least eight bytes must be readable. */
static inline bool wrap_may_be_row(const char *name)
{
	uint64_t bytes;
	uint32_t begin;

	memcpy(&bytes, name, sizeof(bytes));
	begin = wrap_begin(bytes);
	return wrap_begins[begin / 64] >> begin % 64 & 1;
}

static inline void *wrap_wrapper(int row, int instance)
{
	return wrap_rows[row].set->wrapper(wrap_rows[row].entry, instance);
}

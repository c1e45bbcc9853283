/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - wrappers that are not exported by name: one instance for each real function.
 *
 * Two copies of libjpeg in one process are two real functions of one name, and each caller must get
 * its own one. So each name has several wrapper instances, which pool.c assigns to real functions.
 * Each subject (decoders, libcudart, ...) has its own set of wrappers, which wrap_rows.h makes from
 * a table of rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/sys.h"
#include "dlprof/hash.h"

#define WRAP_INSTANCE_MAX 8
#define WRAP_ROW_MAX	  240

/*
 * The real function behind a wrapper instance. First come the first instances of all rows, then the
 * second ones: mostly a library has one copy, and an image takes half a dozen of its calls.
 */
struct wrap_target {
	void *real;	/* NULL: free. Written last, read without a lock */
	void **slot;	/* slot bound lazily: `real` is ld.so's entry, which changes the slot */
};

/* Further facts about an instance. */
struct wrap_copy {
	void *helpers[2];	/* functions of the same copy of the library; NULL: none */
	bool foreign; /* lies in another namespace, where no dlclose() is seen: never freed */
};

/*
 * A library. `mark` is a function that only this library exports, so that modules with functions of
 * the same names are left alone; NULL: the names are unique. `helpers` are functions of the same
 * copy that the wrappers call.
 */
struct wrap_library {
	const char *mark;
	const char *helpers[2];
};

/* A row without pointers: ld.so would have to relocate them in every process. */
struct wrap_entry {
	uint16_t name;		/* offset of the name in wrap_set.names */
	uint8_t library;	/* index in wrap_set.libraries */
};

struct wrap_set {
	const struct wrap_library *libraries;
	const struct wrap_entry *entries;
	const char *names;
	struct wrap_target *targets; /* `count` targets for each instance number, as in `copies` */
	struct wrap_copy *copies;
	void *(*wrapper)(int entry, int instance);
	void (*reached)(int library);	/* called when a caller gets a wrapper; NULL: none */
	int count;			/* number of entries */
};

/* The sets of all subjects, ended by NULL; defined in init.c. */
extern HIDDEN const struct wrap_set *const wrap_sets[];

/* An entry of any set, filled by wrap_index(). */
struct wrap_row {
	const char *name;
	const struct wrap_set *set;
	const struct wrap_library *library;
	uint32_t hash;		/* elf_hash() of the row's name */
	uint32_t mark_hash;	/* elf_hash() of its library's mark, if there is one */
	int entry;		/* number of the entry in its set */
};

extern HIDDEN struct wrap_row wrap_rows[WRAP_ROW_MAX];
extern HIDDEN int wrap_row_count;

#define WRAP_BEGIN_BYTES 7	/* unlike "_ZN2cv6", most names in torch begin with "_ZN2at" */
#define WRAP_BEGIN_BITS	 13	/* 1 in 60 of 50,000 other names passes this filter */

/* Hashes of the first bytes of the rows' names, as a bit for each hash. */
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

/* Fills wrap_rows; a second call does no harm. */
void wrap_index(void);

/* Returns the row with this name, or -1. May be called before wrap_index(). */
int wrap_row_of(const char *name);

/* Returns the bit in wrap_begins for names that begin with these bytes. */
static inline uint32_t wrap_begin(uint64_t bytes)
{
	bytes <<= 64 - 8 * WRAP_BEGIN_BYTES;
	return (uint32_t)(hash_word(0, bytes) >> (64 - WRAP_BEGIN_BITS));
}

/* Returns false if no row can have this name, of which at least eight bytes are readable. */
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

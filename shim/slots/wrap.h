/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - wrappers that are never exported by name, one instance for each real function.
 *
 * Two copies of libjpeg in one process are two real functions of one name, and each caller must get
 * its own: so each function has a few wrappers, and pool.c gives each real function one of them.
 * Each subject has its own set, made by wrap_rows.h from a table of rows.
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
 * The real function behind a wrapper instance. A set's first instances lie side by side, the others
 * behind them: mostly a library has one copy, and an image takes half a dozen of its calls.
 */
struct wrap_target {
	void *real;	/* NULL: free. Written last, read without a lock */
	void **slot;	/* bound lazily: `real` is ld.so's entry, and ld.so changes the slot */
};

/* Further facts about an instance. */
struct wrap_copy {
	void *helpers[2];	/* functions of the same copy of the library; NULL: none */
	bool foreign; /* in another namespace, where no close is seen: never freed */
};

/*
 * `mark` is a function that only the library itself exports, so that modules with functions of the
 * same names are left alone; NULL: the library's names are unique. Helpers are functions of the
 * same copy that its wrappers call.
 */
struct wrap_library {
	const char *mark;
	const char *helpers[2];
};

/* A row without pointers, to which ld.so would have to add its base in every process. */
struct wrap_entry {
	uint16_t name;		/* offset of the name in wrap_set.names */
	uint8_t library;	/* index in wrap_set.libraries */
};

struct wrap_set {
	const struct wrap_library *libraries;
	const struct wrap_entry *entries;
	const char *names;
	struct wrap_target *targets;	/* `count` for each instance, as in `copies` */
	struct wrap_copy *copies;
	void *(*wrapper)(int entry, int instance);
	void (*reached)(int library);	/* called when a caller gets a wrapper; NULL: none */
	int count;			/* number of entries */
};

/* The sets of all subjects, NULL at the end: init.c. */
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

#define WRAP_BEGIN_BYTES 7	/* "_ZN2cv6", not "_ZN2at": most names in torch begin alike */
#define WRAP_BEGIN_BITS	 13	/* 1 of 60 among 50,000 other names passes */

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

/* Returns the row with this name, or -1; also before wrap_index(). */
int wrap_row_of(const char *name);

/* Returns the bit for names that begin with these bytes. */
static inline uint32_t wrap_begin(uint64_t bytes)
{
	bytes <<= 64 - 8 * WRAP_BEGIN_BYTES;
	return (uint32_t)(hash_word(0, bytes) >> (64 - WRAP_BEGIN_BITS));
}

/* Returns false if no row has this name. At least eight bytes can be read from `name` on. */
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

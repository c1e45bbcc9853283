/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - wrappers of functions that are never exported by name, one instance for each real
 * function that they stand for.
 *
 * Two copies of libjpeg in one process are two real functions of one name, and each caller must get
 * to its own: so every function has a few wrappers, and pool.c gives each real function one of
 * them. Each subject has a set of its own: a table of rows, from which wrap_rows.h makes it.
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
 * What one wrapper instance stands for. The first instances of a set lie side by side, the others
 * behind them: mostly there is one copy of a library, and an image takes half a dozen of its calls.
 */
struct wrap_target {
	void *real;	/* NULL: free. Set last, read without a lock */
	void **slot;	/* bound lazily: `real` is the way to ld.so, which changes the slot */
};

/* The rest of it. */
struct wrap_copy {
	void *helpers[2];	/* of the same copy of the library; NULL: none */
	bool foreign; /* of another namespace, where nobody says what is closed: kept for ever */
};

/*
 * `mark` is a function that only the library itself exports: what merely has a function of the same
 * name as one of ours is left alone. NULL: its names are unmistakable. Helpers are functions of the
 * same copy that its wrappers call.
 */
struct wrap_library {
	const char *mark;
	const char *helpers[2];
};

/* No pointers: every process would have ld.so add its base to all of them. */
struct wrap_entry {
	uint16_t name;		/* where it begins in wrap_set.names */
	uint8_t library;	/* in wrap_set.libraries */
};

struct wrap_set {
	const struct wrap_library *libraries;
	const struct wrap_entry *entries;
	const char *names;
	struct wrap_target *targets;	/* `count` for each instance, and so are `copies` */
	struct wrap_copy *copies;
	void *(*wrapper)(int entry, int instance);
	void (*reached)(int library);	/* a caller has got a wrapper; NULL: nobody wants to know */
	int count;			/* of entries */
};

/* Of every subject, NULL at the end: init.c. */
extern HIDDEN const struct wrap_set *const wrap_sets[];

/* An entry of any set, once wrap_index() has looked at all of them. */
struct wrap_row {
	const char *name;
	const struct wrap_set *set;
	const struct wrap_library *library;
	uint32_t hash;		/* elf_hash() of its name */
	uint32_t mark_hash;	/* ... of its library's mark, if that has one */
	int entry;		/* in its set */
};

extern HIDDEN struct wrap_row wrap_rows[WRAP_ROW_MAX];
extern HIDDEN int wrap_row_count;

#define WRAP_BEGIN_BYTES 7	/* "_ZN2cv6", not "_ZN2at": most of torch begins alike */
#define WRAP_BEGIN_BITS	 13	/* of 50,000 names that are none of ours 1 in 60 passes */

/* How the names of rows begin, a bit each. */
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

/* A second time does no harm. */
void wrap_index(void);

/* The row of this name, or -1; also before wrap_index(). */
int wrap_row_of(const char *name);

/* The bit of names that begin with these bytes. */
static inline uint32_t wrap_begin(uint64_t bytes)
{
	bytes <<= 64 - 8 * WRAP_BEGIN_BYTES;
	return (uint32_t)(hash_word(0, bytes) >> (64 - WRAP_BEGIN_BITS));
}

/* False: it is the name of no row. At least eight bytes of it, or behind its end, can be read. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_rows.h - makes a set of wrappers from a table. A subject's file includes it at its end.
 *
 * Before that line, the file defines:
 * - WRAP_ROWS: the path of the table of WRAP(LIBRARY, FAMILY, result, name, parameters, arguments),
 *   or WRAP_VOID for functions without result; pointers are `void *`
 * - WRAP_SET: the name of the struct wrap_set that is made
 * - WRAP_LIBRARIES, WRAP_REACHED: members of that struct
 * - WRAP_LIBRARY(LIBRARY): the library's index in WRAP_LIBRARIES
 * - END_x: what rows of family x do after the real call
 * - BEGIN: what rows do before the real call; its value says whether END_x follows
 * It may also define:
 * - WRAP_STATE: a declaration of a variable that BEGIN sets and END_x reads
 * - BEGIN_x: a comma and an expression, which family x uses instead of BEGIN
 * - JUMPS_x: ", true" if a wrapper jumps to the real function when no END_x follows
 * - CALLS_x: a comma and an expression that calls `real`, if C cannot call such a function
 * - ENTRY_x: a comma and a macro that defines a wrapper instance, if C cannot define that function
 *
 * All of these can use the parameters, WRAP_STATE, `target`, `copy`, `row_library` and `row_name`,
 * and END_x also `result`. END_x sees the caller's structs as the real call left them.
 */
#include <assert.h>
#include <stddef.h>

#include "base/sys.h"
#include "slots/pool.h"
#include "slots/wrap.h"

#ifndef WRAP_STATE
#define WRAP_STATE
#endif

/* The real function. It was stored before the caller's slot, so the fence in SLOT() comes first. */
#define REAL(target) __atomic_load_n(&(target)->real, __ATOMIC_ACQUIRE)
/* Comes before REAL(). While `real` is ld.so's entry, this is the slot that ld.so will change. */
#define SLOT(target)                                                                               \
	(__atomic_thread_fence(__ATOMIC_ACQUIRE),                                                  \
	 __atomic_load_n(&(target)->slot, __ATOMIC_ACQUIRE))

#define STRIP(...) __VA_ARGS__

/*
 * If BEGIN_x is not defined, BEGIN_OR_USUAL(BEGIN_x, BEGIN) is BEGIN. If it is defined, it begins
 * with a comma, so the expression after that comma becomes the second argument, and is chosen.
 */
#define SECOND(first, second, ...) second
#define BEGIN_OR_USUAL(...)	   SECOND(__VA_ARGS__, )

#define WRAP(library_id, family, type, name, params, args) ROW_##name,
#define WRAP_VOID(library_id, family, name, params, args)  ROW_##name,
enum {
#include WRAP_ROWS
	ROW_MAX
};
#undef WRAP
#undef WRAP_VOID

static struct wrap_target targets[WRAP_INSTANCE_MAX][ROW_MAX] __attribute__((aligned(64)));
static struct wrap_copy copies[WRAP_INSTANCE_MAX][ROW_MAX];

#define NUMBERS(each, type, name, params, args)                                                    \
	each(type, name, 0, params, args) each(type, name, 1, params, args)                        \
	each(type, name, 2, params, args) each(type, name, 3, params, args)                        \
	each(type, name, 4, params, args) each(type, name, 5, params, args)                        \
	each(type, name, 6, params, args) each(type, name, 7, params, args)
static_assert(WRAP_INSTANCE_MAX == 8, "NUMBERS");

#define INSTANCE(type, name, number, params, args)                                                 \
	static type name##_##number params                                                         \
	{                                                                                          \
		return call_##name(STRIP args, &targets[number][ROW_##name]);                      \
	}

/*
 * Nothing is held across the real call, which may longjmp or throw. Lazily bound calls have a
 * function of their own, so that other calls save no registers.
 */
#define CALL(library_id, family, type, name, params, args, declare, keep, give)                    \
	static inline __attribute__((always_inline))                                               \
	type made_##name(STRIP params, struct wrap_target *target, void **slot)                    \
	{                                                                                          \
		const char *const row_name = #name;                                                \
		const int row_library = WRAP_LIBRARY(library_id);                                  \
		const struct wrap_copy *copy = &copies[0][target - targets[0]];                    \
		type(*real) params = (type(*) params)REAL(target);                                 \
		bool recorded;                                                                     \
		declare;                                                                           \
		WRAP_STATE;                                                                        \
                                                                                                   \
		(void)row_library, (void)row_name, (void)copy;                                     \
		if (slot)                                                                          \
			pool_binds();                                                              \
		recorded = BEGIN_OR_USUAL(BEGIN_##family, BEGIN);                                  \
		if (BEGIN_OR_USUAL(JUMPS_##family, false) && !slot && !recorded)                   \
			return BEGIN_OR_USUAL(CALLS_##family, real args);                          \
		keep BEGIN_OR_USUAL(CALLS_##family, real args);                                    \
		if (slot)                                                                          \
			pool_bound(target, slot);                                                  \
		if (recorded) {                                                                    \
			END_##family;                                                              \
		}                                                                                  \
		give;                                                                              \
	}                                                                                          \
	static RARELY type bind_##name(STRIP params, struct wrap_target *target, void **slot)      \
	{                                                                                          \
		return made_##name(STRIP args, target, slot);                                      \
	}                                                                                          \
	static __attribute__((noinline))                                                           \
	type call_##name(STRIP params, struct wrap_target *target)                                 \
	{                                                                                          \
		void **slot = SLOT(target);                                                        \
                                                                                                   \
		return unlikely(slot) ? bind_##name(STRIP args, target, slot)                      \
				      : made_##name(STRIP args, target, NULL);                     \
	}                                                                                          \
	NUMBERS(BEGIN_OR_USUAL(ENTRY_##family, INSTANCE), type, name, params, args)

#define WRAP(library_id, family, type, name, params, args)                                         \
	CALL(library_id, family, type, name, params, args, type result, result =, return result)
#define WRAP_VOID(library_id, family, name, params, args)                                          \
	CALL(library_id, family, void, name, params, args, , , )
#include WRAP_ROWS
#undef WRAP
#undef WRAP_VOID

#define WRAP_VOID(library_id, family, name, params, args) WRAP(library_id, family, , name, , )

struct names {
#define WRAP(library_id, family, type, name, params, args)                                         \
	char of_##name[sizeof(#name)];                                                             \
	static_assert(sizeof(#name) >= WRAP_BEGIN_BYTES, "wrap_begins");
#include WRAP_ROWS
#undef WRAP
};

static_assert(sizeof(struct names) <= UINT16_MAX, "wrap_entry.name");

static const struct names names = {
#define WRAP(library_id, family, type, name, params, args) #name,
#include WRAP_ROWS
#undef WRAP
};

static const struct wrap_entry entries[ROW_MAX] = {
#define WRAP(library_id, family, type, name, params, args)                                         \
	{offsetof(struct names, of_##name), WRAP_LIBRARY(library_id)},
#include WRAP_ROWS
#undef WRAP
};

/* Returns wrapper number `instance` of a row. A table of pointers would need relocations. */
static void *wrapper(int entry, int instance)
{
	switch (entry * WRAP_INSTANCE_MAX + instance) {
#define CASE(type, name, number, params, args)                                                     \
	case ROW_##name * WRAP_INSTANCE_MAX + (number):                                            \
		return name##_##number;
#define WRAP(library_id, family, type, name, params, args) NUMBERS(CASE, type, name, params, args)
#include WRAP_ROWS
#undef WRAP
	}
	return NULL;
}

const struct wrap_set WRAP_SET = {
	.libraries = WRAP_LIBRARIES,
	.entries = entries,
	.names = (const char *)&names,
	.targets = targets[0],
	.copies = copies[0],
	.wrapper = wrapper,
	.reached = WRAP_REACHED,
	.count = ROW_MAX,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "slots/pool.h"

#include <stdatomic.h>
#include <string.h>

#include "base/note.h"

static bool full_noted;
static _Atomic bool late_noted;
static _Atomic uint32_t binding_count, bound_count;

bool pool_is_library(const struct elf_module *elf, const struct wrap_row *row)
{
	return !row->library->mark || elf_function(elf, row->library->mark, row->mark_hash);
}

bool pool_is_of_library(const struct module *module, const struct wrap_row *row)
{
	struct elf_module elf;

	return module && module_open(module, &elf) && pool_is_library(&elf, row);
}

static void find_helpers(struct wrap_copy *copy, const struct wrap_library *library,
			 const void *real)
{
	const struct module *module = module_at(real);
	struct elf_module elf;

	if (!module || !module_open(module, &elf))
		return;
	for (int i = 0; i < 2 && library->helpers[i]; i++)
		copy->helpers[i] =
			elf_function(&elf, library->helpers[i], elf_hash(library->helpers[i]));
}

/* Returns an instance that is free, or whose library was closed, or -1. */
static int free_target(int row)
{
	for (int i = 0; i < WRAP_INSTANCE_MAX; i++)
		if (!wrap_target(row, i)->real)
			return i;
	for (int i = 0; i < WRAP_INSTANCE_MAX; i++)
		if (!wrap_copy(wrap_rows[row].set, wrap_target(row, i))->foreign &&
		    !module_at(wrap_target(row, i)->real))
			return i;
	return -1;
}

static int find_target(int row, const void *real)
{
	for (int i = 0; i < WRAP_INSTANCE_MAX; i++)
		if (__atomic_load_n(&wrap_target(row, i)->real, __ATOMIC_ACQUIRE) == real)
			return i;
	return -1;
}

void *pool_wrapper(int row, void *real, void **slot)
{
	const struct wrap_library *library = wrap_rows[row].library;
	int at = find_target(row, real);
	const struct wrap_set *set = wrap_rows[row].set;
	struct wrap_target *target;
	struct wrap_copy *copy;

	if (at >= 0)
		return wrap_wrapper(row, at);
	if (!slot && (!module_in_text(module_at(real), real) ||
		      !pool_is_of_library(module_at(real), &wrap_rows[row])))
		return NULL;
	at = free_target(row);
	if (at < 0) {
		if (!full_noted)
			note_add(
				'w',
				"too many copies of one decode library: some are not observed");
		full_noted = true;
		return NULL;
	}
	target = wrap_target(row, at);
	copy = wrap_copy(set, target);
	memset(copy->helpers, 0, sizeof(copy->helpers));
	__atomic_store_n(&target->slot, slot, __ATOMIC_RELEASE);
	copy->foreign = !slot && module_is_foreign(module_at(real));
	if (!slot)
		find_helpers(copy, library, real);
	__atomic_store_n(&target->real, real, __ATOMIC_RELEASE);
	if (set->reached)
		set->reached(set->entries[wrap_rows[row].entry].library);
	return wrap_wrapper(row, at);
}

void *pool_substitute(int row, void *real)
{
	int at = find_target(row, real);
	void *wrapper;

	/* An instance whose `real` is in no known module may be about to get another function. */
	if (at >= 0 && module_at(real))
		return wrap_wrapper(row, at);
	if (module_in_text(module_self(), real))
		return real;
	if (!module_lock()) {
		if (!atomic_exchange(&late_noted, true))
			note_add('w', "a decoder was looked up while modules were being looked "
					  "at, or in a fork, for long: it is not observed");
		return real;
	}
	wrapper = pool_wrapper(row, real, NULL);
	module_unlock();
	return wrapper ? wrapper : real;
}

void pool_binds(void)
{
	atomic_fetch_add(&binding_count, 1);
}

uint32_t pool_lost_count(void)
{
	return atomic_load(&binding_count) - atomic_load(&bound_count);
}

void pool_unsettle(void)
{
	for (int row = 0; row < wrap_row_count; row++)
		for (int i = 0; i < WRAP_INSTANCE_MAX; i++) {
			void **slot = wrap_target(row, i)->slot;
			struct module *module = slot ? module_at(slot) : NULL;

			if (module && !module_is_foreign(module) && module->state == MODULE_DONE)
				module->state = MODULE_PENDING;
		}
}

void *pool_wrapper_of_slot(int row, void *real, void **slot)
{
	for (int i = 0; i < WRAP_INSTANCE_MAX; i++) {
		struct wrap_target *target = wrap_target(row, i);
		struct wrap_copy *copy = wrap_copy(wrap_rows[row].set, target);

		/* The instance was made for this slot before ld.so had bound it, and calls of its
		 * wrapper may be under way. It now stands for the function, if no other does. */
		if (target->slot != slot || target->real == real || find_target(row, real) >= 0)
			continue;
		find_helpers(copy, wrap_rows[row].library, real);
		/* A library that no sweep has seen yet may be in another namespace. */
		copy->foreign = !module_at(real);
		__atomic_store_n(&target->real, real, __ATOMIC_RELEASE);
		__atomic_store_n(&target->slot, NULL, __ATOMIC_RELEASE);
	}
	return pool_wrapper(row, real, NULL);
}

static int row_of(const struct wrap_target *target)
{
	for (int row = 0;; row++) {
		const struct wrap_set *set = wrap_rows[row].set;
		size_t at = (size_t)(target - set->targets);

		if (at < (size_t)set->count * WRAP_INSTANCE_MAX &&
		    at % (size_t)set->count == (size_t)wrap_rows[row].entry)
			return row;
	}
}

void pool_bound(struct wrap_target *target, void **slot)
{
	int row = row_of(target);
	void *real, *wrapper;

	atomic_fetch_add(&bound_count, 1);
	if (!module_lock())
		return;
	real = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (!module_in_text(module_self(), real) &&
	    (target->slot != slot || real != target->real)) {
		wrapper = pool_wrapper_of_slot(row, real, slot);
		if (wrapper)
			__atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
	}
	module_unlock();
}

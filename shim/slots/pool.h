/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - assigns wrapper instances to real functions.
 *
 * An instance stands for an address, and calls it. That is right for every caller that had this
 * address, even after the library is gone.
 */
#pragma once

#include <stdbool.h>

#include "slots/elf.h"
#include "slots/module.h"
#include "slots/wrap.h"

/* Returns true if a module is the row's library, not one with a function of the same name. */
bool pool_is_library(const struct elf_module *elf, const struct wrap_row *row);
bool pool_is_of_library(const struct module *module, const struct wrap_row *row);

/*
 * Returns the wrapper for `real`, or NULL to leave the slot alone. `slot` is NULL unless the slot
 * is bound lazily and `real` is ld.so's entry. The caller has module_lock().
 */
void *pool_wrapper(int row, void *real, void **slot);

/* Returns the wrapper for `real`, or `real` itself if there is none. */
void *pool_substitute(int row, void *real);

/* Returns the wrapper for `real`, which ld.so put into `slot`, or NULL. Needs module_lock(). */
void *pool_wrapper_of_slot(int row, void *real, void **slot);

/*
 * Called before and after a call through a lazily bound slot, into which ld.so puts the real
 * function. If the call leaves by longjmp(), pool_bound() is not called.
 */
void pool_binds(void);
void pool_bound(struct wrap_target *target, void **slot);

/* Returns how many calls have not come to pool_bound(). */
uint32_t pool_lost_count(void);
void pool_unsettle(void);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - which wrapper instance stands for which real function.
 *
 * An instance stands for an address, and calls it. This is right for every caller that had the
 * address, even after the library is gone.
 */
#pragma once

#include <stdbool.h>

#include "slots/elf.h"
#include "slots/module.h"
#include "slots/wrap.h"

/* Whether a module is the library itself, rather than one with a function of the same name. */
bool pool_is_library(const struct elf_module *elf, const struct wrap_row *row);
bool pool_is_of_library(const struct module *module, const struct wrap_row *row);

/*
 * With module_lock(): returns the wrapper for `real`; NULL: leave the slot alone. `slot`: the slot,
 * if it is bound lazily and `real` is ld.so's entry; else NULL.
 */
void *pool_wrapper(int row, void *real, void **slot);

/* Returns the wrapper for `real`, or `real` itself if there is none. */
void *pool_substitute(int row, void *real);

/* With module_lock(): returns the wrapper for `real`, which ld.so has put into `slot`, or NULL. */
void *pool_wrapper_of_slot(int row, void *real, void **slot);

/*
 * Called before and after a call through a lazily bound slot, in which ld.so puts the real
 * function. A call that leaves by longjmp() does not reach pool_bound().
 */
void pool_binds(void);
void pool_bound(struct wrap_target *target, void **slot);

/* Returns how many calls did not reach pool_bound(). */
uint32_t pool_lost_count(void);
void pool_unsettle(void);

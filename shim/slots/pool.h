/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - assigns wrapper instances to real functions.
 *
 * An instance calls one address only. So every caller that looked up this address may use the
 * instance, even if another library was loaded there since.
 */
#pragma once

#include <stdbool.h>

#include "slots/elf.h"
#include "slots/module.h"
#include "slots/wrap.h"

/* Return true if the module is the row's library, not another one that has this function name. */
bool pool_is_library(const struct elf_module *elf, const struct wrap_row *row);
bool pool_is_of_library(const struct module *module, const struct wrap_row *row);

/*
 * Returns the wrapper to put into a slot, or NULL to leave the slot alone. If the slot is not bound
 * yet, `slot` is its address and `real` the PLT entry that binds it; else `slot` is NULL.
 */
void *pool_wrapper(int row, void *real, void **slot);

/* Returns the wrapper of `real`, or `real` itself if there is none. */
void *pool_substitute(int row, void *real);

/* Returns the wrapper of `real`, which ld.so has put into `slot`, or NULL. */
void *pool_wrapper_of_slot(int row, void *real, void **slot);

/* Called around a call by a lazily bound slot. A longjmp() may skip pool_bound(). */
void pool_binds(void);
void pool_bound(struct wrap_target *target, void **slot);

uint32_t pool_lost_count(void);
void pool_unsettle(void);

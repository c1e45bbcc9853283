/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - which wrapper instance stands for which real function.
 *
 * An instance stands for an address: what it calls is right for whoever reached it through that
 * address, whatever becomes of the library.
 */
#ifndef POOL_H
#define POOL_H

#include <stdbool.h>

#include "slots/elf.h"
#include "slots/module.h"
#include "slots/wrap.h"

/* Is this the library, or has it merely a function of the same name? */
bool pool_is_library(const struct elf_module *elf, const struct wrap_library *library);
bool pool_is_of_library(const struct module *module, const struct wrap_library *library);

/*
 * With module_lock(): the wrapper for `real`; NULL: leave it alone. `slot` if it is bound lazily,
 * and `real` is the way to ld.so.
 */
void *pool_wrapper(int row, void *real, void **slot);

/* The wrapper that stands for `real`, or `real` where there is none. */
void *pool_substitute(int row, void *real);

/* With module_lock(): the wrapper for `real`, which ld.so has put into `slot`, or NULL. */
void *pool_wrapper_of_slot(int row, void *real, void **slot);

/*
 * Around a call through a lazily bound slot: after it ld.so has put the real function there,
 * perhaps not for the first time. The second is not reached where the call leaves by longjmp().
 */
void pool_binds(void);
void pool_bound(struct wrap_target *target, void **slot);

/* How many have not been. With module_lock(): their modules are to be looked at once more. */
uint32_t pool_lost_count(void);
void pool_unsettle(void);

#endif

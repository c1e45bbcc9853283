/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - what a loaded module itself calls under a name. */
#pragma once

/*
 * The function that the module of `within` calls under `name`, which it imports: ld.so may have
 * bound that to any library. NULL: it imports no such function, or the module is not known.
 */
void *import_of(const void *within, const char *name);

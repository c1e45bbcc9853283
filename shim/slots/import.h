/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - finds the function that a loaded module calls under a name. */
#pragma once

/*
 * Returns the function that the module of `within` calls by its import `name`: ld.so may have bound
 * that to any library. NULL: it imports no such function, or the module is not known.
 */
void *import_of(const void *within, const char *name);

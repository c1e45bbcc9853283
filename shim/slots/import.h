/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - finds the function that a loaded module calls under a name. */
#pragma once

/*
 * Returns the function that the module around `within` calls by the name `name`, whichever library
 * ld.so took it from, or NULL if the module imports no such function, or is not known.
 */
void *import_of(const void *within, const char *name);

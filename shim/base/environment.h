/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - changes the environment of children without disturbing threads that read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

size_t environment_count(void);

/*
 * Copies the first `count` entries and a NULL, except those that begin with a string of `without`,
 * which ends with NULL. Returns how many were copied: other threads may add or remove some.
 */
size_t environment_copy(char **copy, size_t count, const char *const *without);

/* Sets NAME=value, or removes NAME if `value` is NULL; `name` includes the '='. 0 or -ENOMEM. */
int environment_set(const char *name, const char *value);

/*
 * Returns this library's absolute path, as ld.so found it; NULL: unknown. The constructor calls
 * this first, before the program can leave the folder that a relative path counts from.
 */
const char *environment_own_path(void);

/*
 * Sets a variable by which other software loads a library to this one, unless it is set already, by
 * another tool or by our parent.
 */
void environment_inject(const char *name);

/* Removes a variable set by environment_inject(), if it names this library. */
void environment_withdraw(const char *name);

/* Whether a variable names another library than this one. */
bool environment_is_others(const char *name);

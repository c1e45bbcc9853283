/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - changes the environment of children without disturbing threads that read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

size_t environment_count(void);

/*
 * Copies the first `count` variables and a NULL, except those that begin with a string of `without`
 * (ended by NULL). Returns the number copied: other threads may add or remove variables meanwhile.
 */
size_t environment_copy(char **copy, size_t count, const char *const *without);

/*
 * Sets a variable, or removes it if `value` is NULL. `name` includes the '='. Returns 0, -ENOMEM.
 */
int environment_set(const char *name, const char *value);

/*
 * Returns this library's absolute path, as ld.so found it, or NULL. The constructor must make the
 * first call, while a relative path still counts from the folder of the program's start.
 */
const char *environment_own_path(void);

/*
 * Makes other software load this library: sets `name` to the library's path, unless the variable is
 * set already, by another tool or by our parent.
 */
void environment_inject(const char *name);

/* Removes a variable set by environment_inject(), if it names this library. */
void environment_withdraw(const char *name);

/* Returns true if a variable names another library than this one. */
bool environment_is_others(const char *name);

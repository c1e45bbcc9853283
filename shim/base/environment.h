/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - changes the environment of children without disturbing threads that read it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

size_t environment_count(void);

/*
 * Copies at most `count` variables, leaving out those that begin with a text of `without`, and
 * appends a NULL. Returns the number of variables copied.
 */
size_t environment_copy(char **copy, size_t count, const char *const *without);

/* Sets `name`, which includes the '=', or removes it (value NULL). Returns 0 or -ENOMEM. */
int environment_set(const char *name, const char *value);

/* Returns this library's path, or NULL. First called in the constructor, before any chdir(). */
const char *environment_own_path(void);

/* Makes other software load this library by the variable `name`, unless another tool has set it. */
void environment_inject(const char *name);

/* Removes the variable if it names this library. */
void environment_withdraw(const char *name);

bool environment_is_others(const char *name);

/* Returns true if the name of a variable begins with `prefix`. */
bool environment_has(const char *prefix);

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

/* `name` includes the '='; NULL removes it. Returns 0 or -ENOMEM. */
int environment_set(const char *name, const char *value);

/* Must first be called in the constructor: the path may be relative. Returns NULL if unknown. */
const char *environment_own_path(void);

/* Makes other software load this library, unless another tool has set the variable `name`. */
void environment_inject(const char *name);

/* Removes a variable of environment_inject(), if it names this library. */
void environment_withdraw(const char *name);

bool environment_is_others(const char *name);

/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - what children inherit, changed without disturbing who reads it meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

size_t environment_count(void);

/*
 * Copies the first `count` entries, and a NULL behind them, but those that begin as one of
 * `without`, which ends with NULL. Returns how many: other threads may add some meanwhile, or take
 * some out.
 */
size_t environment_copy(char **copy, size_t count, const char *const *without);

/* Sets NAME=value, whatever it was, or takes it out if that is NULL; `name` with the '='. 0, or
 * -ENOMEM. */
int environment_set(const char *name, const char *value);

/*
 * This library's path as ld.so found it, absolute; NULL: unknown. The constructor calls it first,
 * before the program can leave the folder that a relative path counts from.
 */
const char *environment_own_path(void);

/*
 * Names this library in a variable by which others find one to load, unless it is set: then it is
 * another tool's, or our parent's.
 */
void environment_inject(const char *name);

/* Takes such a variable out if it names this library. */
void environment_withdraw(const char *name);

/* Whether such a variable names another library than this one. */
bool environment_is_others(const char *name);

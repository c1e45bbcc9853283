/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - finds dlprof-drain in the library's own folder, where both were installed, or where
 * both were built. It looks nowhere else, and dlprof/trust.h must allow to run it.
 */
#pragma once

#include "base/text.h"

/*
 * Returns 0 and the drain's path; -ENOENT if there is none; -EACCES if it must not be executed;
 * -EPERM if it is not trusted. On error `why` gets a text for the user, like "FILE is writable by
 * others".
 */
int place_find_drain(struct text *path, struct text *why);

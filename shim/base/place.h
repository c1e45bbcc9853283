/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - finds dlprof-drain: in the library's own folder, where both were installed, or where
 * both were built. Nowhere else, and only if dlprof/trust.h lets it run.
 */
#pragma once

#include "base/text.h"

/*
 * Returns 0 with the drain's path; -ENOENT: there is none; -EACCES: it must not be executed;
 * -EPERM: it is not trusted. On error `why` gets words for the user, like "FILE is writable by
 * others".
 */
int place_find_drain(struct text *path, struct text *why);

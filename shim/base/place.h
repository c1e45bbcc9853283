/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - where dlprof-drain is: in the library's own folder, where both were installed, or where
 * both were built. Nowhere else, and only if dlprof/trust.h lets it run.
 */
#pragma once

#include "base/text.h"

/*
 * 0; -ENOENT: there is none; -EACCES: it may not be executed; -EPERM: it is not trusted. `why` is
 * for the user, "it was not found" or "FILE is writable by others"; nothing is added on success.
 */
int place_find_drain(struct text *path, struct text *why);

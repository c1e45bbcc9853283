/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - finds dlprof-drain, and only where it lies beside the library, installed or built. */
#pragma once

#include "base/text.h"

/* Returns 0 and `path`, or `why` and -ENOENT, -EACCES (not executable), -EPERM (not trusted). */
int place_find_drain(struct text *path, struct text *why);

/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - finds dlprof-drain only beside the library, as installed or built. */
#pragma once

#include "base/text.h"

/* Returns 0, -ENOENT, -EACCES (not executable) or -EPERM (not trusted). `why` is for users. */
int place_find_drain(struct text *path, struct text *why);

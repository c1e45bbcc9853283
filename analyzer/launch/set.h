/* SPDX-License-Identifier: Apache-2.0 */
/* set.h - checks the argument of --set, which is also that of DLPROF_SET. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the settings are valid; else `problem` says what would be valid. */
bool set_check(const char *text, char *problem, size_t size);

/* SPDX-License-Identifier: Apache-2.0 */
/* set.h - checks --set on the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true if `text` is valid; else `problem` says what is wrong, and what would be valid. */
bool set_check(const char *text, char *problem, size_t size);

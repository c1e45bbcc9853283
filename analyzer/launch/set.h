/* SPDX-License-Identifier: Apache-2.0 */
/* set.h - check --set on the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether all of it can be understood. Else `problem` says what cannot, and what is possible. */
bool set_check(const char *text, char *problem, size_t size);

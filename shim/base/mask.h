/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - replaces what may be a secret in a text of the host by "***" before it is recorded.
 *
 * A word such as "password" in a name masks the rest of its argument, or all arguments up to the
 * next "--switch". Other values are shown if spelled like words, so a bare "hunter2" is visible.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Adds arguments, each ended by a 0, to `out`. `cut`: the last one is incomplete, and left out. */
void mask_arguments(struct text *out, const char *arguments, size_t size, bool cut);

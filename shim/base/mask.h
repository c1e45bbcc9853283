/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - replaces what may be a secret in a text of the host by "***" before it is recorded.
 *
 * There are two rules. A name that contains a secret's word masks the rest of its argument, or the
 * arguments up to the next "--switch". Any other value is shown only if it is a number or plain:
 * words that are spelled as people spell them, and paths, lists and "name=value" made of such
 * words. The spelling alone decides: no system call checks whether a path exists. A secret stays
 * visible if it has no name and is spelled like a word (hunter2, "correct horse").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * Adds `size` bytes of arguments, each ended by a 0, with spaces between. `cut`: more bytes
 * followed, so the last argument is left out, since the name that masks it may be incomplete.
 */
void mask_arguments(struct text *out, const char *arguments, size_t size, bool cut);

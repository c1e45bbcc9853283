/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - what looks like a secret in a text of the host's becomes "***" before it is recorded.
 *
 * By the names of options, assignments and fields (--api-key X, HF_TOKEN=X, "password": "X"), by
 * what stands before the '@' of a URL, and by the shapes of well-known tokens. What it cannot know:
 * a secret without such a name or shape (curl -u USER:X, mysql -pX, login("X"), 40 hexadecimal
 * digits, which are a commit more often), and a password that itself holds what ends a value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * Adds `size` bytes of arguments, each ended by a 0, with spaces between them. `cut`: there was
 * more behind the bytes, so that their last word is left out: its mark may be what is missing.
 */
void mask_arguments(struct text *out, const char *arguments, size_t size, bool cut);

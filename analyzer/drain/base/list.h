/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - edits a list of words, separated by commas in one string, as in the meta table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool list_has(const char *list, const char *word);

/* Adds `word` to a list of `size` bytes. Returns false if it is empty, listed or does not fit. */
bool list_add(char *list, size_t size, const char *word);

/* Removes `word` from the list, if it is there. */
void list_remove(char *list, const char *word);

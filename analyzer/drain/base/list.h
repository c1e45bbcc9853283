/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - words in a string, separated by commas, as the meta table keeps them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool list_has(const char *list, const char *word);

/* Appends a word to a list in `size` bytes. False: it is empty, listed already, or has no room. */
bool list_add(char *list, size_t size, const char *word);

/* Removes a word from the list, if it is there. */
void list_remove(char *list, const char *word);

/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - edits a list of words, separated by commas in one string. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool list_has(const char *list, const char *word);

/* Adds a word. Returns false if it is empty, is in the list already, or does not fit. */
bool list_add(char *list, size_t size, const char *word);

void list_remove(char *list, const char *word);

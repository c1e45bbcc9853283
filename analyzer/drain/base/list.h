/* SPDX-License-Identifier: Apache-2.0 */
/* list.h - words in a string, with commas between them: as the meta table keeps them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool list_has(const char *list, const char *word);

/* At the end of a list in `size` bytes. False: it is empty, is there already, or has no room. */
bool list_add(char *list, size_t size, const char *word);

/* Where it is there. */
void list_remove(char *list, const char *word);

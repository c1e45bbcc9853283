/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/base/list.h"

#include <stdio.h>
#include <string.h>

static const char *find(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, word, length) == 0 && (!at[length] || at[length] == ','))
			return at;
	return NULL;
}

bool list_has(const char *list, const char *word)
{
	return find(list, word);
}

bool list_add(char *list, size_t size, const char *word)
{
	const size_t length = strlen(list);

	if (!*word || list_has(list, word) || length + strlen(word) + 2 > size)
		return false;
	snprintf(list + length, size - length, "%s%s", length ? "," : "", word);
	return true;
}

void list_remove(char *list, const char *word)
{
	const char *found = find(list, word), *next;
	char *at;

	if (!found)
		return;
	at = list + (found - list);
	next = at + strlen(word);
	if (*next)
		memmove(at, next + 1, strlen(next));
	else
		at[at > list ? -1 : 0] = '\0';
}

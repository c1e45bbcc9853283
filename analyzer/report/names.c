/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool names_ends(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

int names_list(const char *folder, const char *suffix, struct names *ret)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort), r = 0;

	*ret = (struct names){.list = count > 0 ? calloc((size_t)count, sizeof(*ret->list)) : NULL};
	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (r == 0 && *name != '.' && names_ends(name, suffix)) {
			r = ret->list && asprintf(&ret->list[ret->count], "%s/%s", folder, name) > 0
				    ? 0
				    : -ENOMEM;
			ret->count += r == 0;
		}
		free(entries[i]);
	}
	free(entries);
	return r;
}

void names_done(struct names *names)
{
	while (names->count)
		free(names->list[--names->count]);
	free(names->list);
}

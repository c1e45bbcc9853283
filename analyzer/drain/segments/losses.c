/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/segments/losses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "analysis/statistics/clamp.h"

struct loss {
	int32_t pid;
	const char *what;
	int64_t count;
};

static struct loss *find_or_add(struct losses *losses, int32_t pid, const char *what)
{
	for (size_t i = 0; i < losses->count; i++)
		if (losses->list[i].pid == pid && strcmp(losses->list[i].what, what) == 0)
			return &losses->list[i];
	if (!ARRAY_GROW(losses->list, losses->count))
		return NULL;
	losses->list[losses->count] = (struct loss){.pid = pid, .what = what};
	return &losses->list[losses->count++];
}

int losses_add(struct losses *losses, struct writer *writer, int32_t pid, const char *what,
	       int64_t more)
{
	struct loss *loss = find_or_add(losses, pid, what);

	if (!loss)
		return -ENOMEM;
	loss->count = clamp_add(loss->count, more);
	return writer_loss(writer, pid, what, loss->count);
}

void losses_forget(struct losses *losses)
{
	free(losses->list);
	*losses = (struct losses){.list = NULL};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu/gpu_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"

#define OPS_MOST ((size_t)1 << 20) /* memory holds at most so many operations: 40 MB */

void gpu_ops_done(struct gpu_ops *ops)
{
	free(ops->items);
}

static int compare_ops(const void *a, const void *b)
{
	const struct gpu_op *x = a, *y = b;

	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Sorts by a merge, as only the newest operations are unsorted, and only a little. */
int gpu_ops_sort(struct gpu_ops *ops)
{
	size_t fresh = ops->count - ops->sorted_count, i = ops->sorted_count;
	size_t k = fresh, to = ops->count;
	struct gpu_op *copy;

	if (!fresh)
		return 0;
	copy = malloc(fresh * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, ops->items + i, fresh * sizeof(*copy));
	qsort(copy, fresh, sizeof(*copy), compare_ops);
	/* Merges from the end, so that no item is overwritten before it was read. */
	while (k)
		ops->items[--to] = i && ops->items[i - 1].begin_ns > copy[k - 1].begin_ns
					   ? ops->items[--i]
					   : copy[--k];
	free(copy);
	ops->sorted_count = ops->count;
	return 0;
}

void gpu_ops_forget(struct gpu_ops *ops, int64_t ns)
{
	size_t kept = 0;

	if (ns <= ops->forgotten_ns)
		return;
	ops->forgotten_ns = ns;
	ops->longest_ns = 0;
	for (size_t i = 0; i < ops->count; i++) {
		int64_t length_ns = ops->items[i].end_ns - ops->items[i].begin_ns;

		if (ops->items[i].end_ns < ns)
			continue;
		if (length_ns > ops->longest_ns)
			ops->longest_ns = length_ns;
		ops->items[kept++] = ops->items[i];
	}
	ops->count = ops->sorted_count = kept;
}

int gpu_ops_add(struct gpu_ops *ops, const struct gpu_op *op)
{
	if (ops->count >= OPS_MOST) {
		int r = gpu_ops_sort(ops);

		if (r < 0)
			return r;
		gpu_ops_forget(ops, ops->items[ops->count / 2].begin_ns);
	}
	if (!ARRAY_GROW(ops->items, ops->count))
		return -ENOMEM;
	ops->items[ops->count++] = *op;
	if (op->end_ns - op->begin_ns > ops->longest_ns)
		ops->longest_ns = op->end_ns - op->begin_ns;
	return 0;
}

static size_t find_begin(const struct gpu_ops *ops, int64_t ns)
{
	return ARRAY_PLACE(ops->count, i, ops->items[i].begin_ns < ns);
}

struct gpu_op *gpu_ops_find(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns,
			    size_t *ret_count)
{
	size_t first = find_begin(ops, begin_ns - ops->longest_ns);

	*ret_count = find_begin(ops, end_ns) - first;
	/* Without operations `items` is NULL, and adding to NULL is undefined. */
	return ops->items ? ops->items + first : NULL;
}

bool gpu_ops_has(const struct gpu_ops *ops, int64_t begin_ns, int64_t end_ns)
{
	size_t count;
	const struct gpu_op *found = gpu_ops_find(ops, begin_ns, end_ns, &count);

	for (size_t i = 0; i < count; i++)
		if (found[i].end_ns > begin_ns)
			return true;
	return false;
}

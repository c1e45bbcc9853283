/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/gpu_trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_SIZE (4 * GPU_TRACE_SIGNATURES)
#define LARGE_COPY ((uint64_t)65536)

static const enum sort SORTS[RHYTHM_KIND_MAX] = {
	[RHYTHM_KERNEL] = SORT_COMPUTE, [RHYTHM_GRAPH] = SORT_COMPUTE,
	[RHYTHM_H2D] = SORT_INPUT,      [RHYTHM_D2H] = SORT_READ_BACK,
	[RHYTHM_SYNC] = SORT_READ_BACK, [RHYTHM_MEMSET] = SORT_OTHER,
};

static uint64_t mix(uint64_t value)
{
	value ^= value >> 31;
	value *= UINT64_C(0x9e3779b97f4a7c15);
	value ^= value >> 29;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	return value ^ value >> 32;
}

uint64_t gpu_trace_sign(const struct rhythm_op *op)
{
	uint64_t value = mix(op->id) + op->kind;

	if (op->kind == RHYTHM_H2D || op->kind == RHYTHM_D2H)
		value = op->kind + (op->bytes >= LARGE_COPY ? 256 : 0);
	if (op->kind != RHYTHM_SYNC)
		value += mix((uint64_t)op->stream + 1);
	return mix(value) | 1;
}

static int by_begin(const void *a, const void *b)
{
	const struct rhythm_op *left = a, *right = b;

	return left->begin_ns < right->begin_ns ? -1 : left->begin_ns > right->begin_ns;
}

static int sort_ops(struct gpu_trace *t)
{
	size_t i;

	for (i = 1; i < t->count && t->ops[i - 1].begin_ns <= t->ops[i].begin_ns; i++)
		;
	if (i >= t->count)
		return 0;
	t->sorted = malloc(t->count * sizeof(*t->sorted));
	if (!t->sorted)
		return -ENOMEM;
	memcpy(t->sorted, t->ops, t->count * sizeof(*t->sorted));
	qsort(t->sorted, t->count, sizeof(*t->sorted), by_begin);
	t->ops = t->sorted;
	return 0;
}

/* The number of the operation's signature. */
static uint32_t find_signature(struct gpu_trace *t, uint32_t *table, const struct rhythm_op *op)
{
	uint64_t value = gpu_trace_sign(op);
	size_t at = value >> 32 & (TABLE_SIZE - 1);

	for (; table[at]; at = (at + 1) & (TABLE_SIZE - 1))
		if (t->signatures[table[at]].value == value)
			return table[at];
	if (op->kind >= RHYTHM_KIND_MAX || t->signature_count == GPU_TRACE_SIGNATURES)
		return 0;
	table[at] = (uint32_t)t->signature_count;
	t->signatures[table[at]] = (struct signature){
		.value = value,
		.stream = op->stream,
		.sort = SORTS[op->kind],
		.is_optimizer = op->kind == RHYTHM_KERNEL && op->is_optimizer,
	};
	return (uint32_t)t->signature_count++;
}

static void list_places(struct gpu_trace *t)
{
	uint32_t first = 0;
	size_t i;

	for (i = 0; i < t->signature_count; i++) {
		t->signatures[i].first = first;
		first += t->signatures[i].count;
		t->signatures[i].count = 0;
	}
	for (i = 0; i < t->count; i++) {
		struct signature *signature = &t->signatures[t->which[i]];

		t->places[signature->first + signature->count++] = (uint32_t)i;
	}
}

static void measure_spread(const struct gpu_trace *t, struct signature *signature)
{
	const uint32_t *places = t->places + signature->first;
	double sum = 0, squares = 0, count = (double)signature->count - 1, mean;
	uint32_t i;

	signature->spread = INFINITY;
	if (signature->count < 2)
		return;
	for (i = 1; i < signature->count; i++) {
		double distance = places[i] - places[i - 1];

		sum += distance;
		squares += distance * distance;
	}
	mean = sum / count;
	signature->spread = sqrt(fmax(0, squares / count - mean * mean)) / mean;
}

int gpu_trace_open(const struct rhythm_op *ops, size_t count, struct gpu_trace *ret)
{
	uint32_t *table = calloc(TABLE_SIZE, sizeof(*table));
	size_t i;
	int r;

	*ret = (struct gpu_trace){.ops = ops, .count = count, .signature_count = 1};
	ret->signatures = calloc(GPU_TRACE_SIGNATURES, sizeof(*ret->signatures));
	ret->which = malloc(count * sizeof(*ret->which));
	ret->places = malloc(count * sizeof(*ret->places));
	r = table && ret->signatures && ret->which && ret->places ? sort_ops(ret) : -ENOMEM;
	if (r == 0) {
		for (i = 0; i < count; i++) {
			ret->which[i] = find_signature(ret, table, &ret->ops[i]);
			ret->signatures[ret->which[i]].count++;
		}
		list_places(ret);
		for (i = 0; i < ret->signature_count; i++)
			measure_spread(ret, &ret->signatures[i]);
	}
	free(table);
	return r;
}

void gpu_trace_close(struct gpu_trace *t)
{
	free(t->sorted);
	free(t->signatures);
	free(t->which);
	free(t->places);
}

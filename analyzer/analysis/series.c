/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.c - grow the columns of a series together. A column is made when its first value is
 * seen, so a quantity that was never observed costs no memory and cannot be mistaken for zero.
 */
#include "analysis/series.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 1024

void series_init(struct batch_series *series)
{
	memset(series, 0, sizeof(*series));
	series->workers = -1;
	series->prefetch_factor = -1;
	series->in_order = -1;
	series->persistent = -1;
}

static int grow_i64(int64_t **column, size_t capacity)
{
	int64_t *grown;

	if (!*column)
		return 0;
	grown = reallocarray(*column, capacity, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*column = grown;
	return 0;
}

static int grow_i32(int32_t **column, size_t capacity)
{
	int32_t *grown = reallocarray(*column, capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*column = grown;
	return 0;
}

static int grow_i8(int8_t **column, size_t capacity)
{
	int8_t *grown = reallocarray(*column, capacity, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*column = grown;
	return 0;
}

static int grow(struct batch_series *series)
{
	size_t capacity = series->capacity ? series->capacity * 2 : FIRST_CAPACITY;

	if (capacity < series->capacity)
		return -ENOMEM;
	if (grow_i64(&series->wait_ns, capacity) < 0 ||
	    grow_i64(&series->compute_ns, capacity) < 0 ||
	    grow_i64(&series->load_ns, capacity) < 0 || grow_i64(&series->begin_ns, capacity) < 0 ||
	    grow_i32(&series->epoch, capacity) < 0 || grow_i32(&series->batch, capacity) < 0 ||
	    grow_i32(&series->worker, capacity) < 0 || grow_i8(&series->head_ready, capacity) < 0)
		return -ENOMEM;
	series->capacity = capacity;
	return 0;
}

/* Makes the column if this is its first known value; earlier batches did not have it. */
static int need_i64(struct batch_series *series, int64_t **column, int64_t value)
{
	size_t i;

	if (*column || value == SERIES_UNKNOWN)
		return 0;
	*column = calloc(series->capacity, sizeof(**column));
	if (!*column)
		return -ENOMEM;
	for (i = 0; i < series->count; i++)
		(*column)[i] = SERIES_UNKNOWN;
	return 0;
}

static void put_i64(int64_t *column, size_t i, int64_t value)
{
	if (column)
		column[i] = value;
}

int series_append(struct batch_series *series, const struct batch_row *row)
{
	size_t i = series->count;
	int r;

	if (i == series->capacity) {
		r = grow(series);
		if (r < 0)
			return r;
	}
	if (need_i64(series, &series->wait_ns, row->wait_ns) < 0 ||
	    need_i64(series, &series->compute_ns, row->compute_ns) < 0 ||
	    need_i64(series, &series->load_ns, row->load_ns) < 0 ||
	    need_i64(series, &series->begin_ns, row->begin_ns) < 0)
		return -ENOMEM;
	put_i64(series->wait_ns, i, row->wait_ns);
	put_i64(series->compute_ns, i, row->compute_ns);
	put_i64(series->load_ns, i, row->load_ns);
	put_i64(series->begin_ns, i, row->begin_ns);
	series->epoch[i] = row->epoch;
	series->batch[i] = row->batch;
	series->worker[i] = row->worker;
	series->head_ready[i] = row->head_ready;
	series->count++;
	return 0;
}

void series_done(struct batch_series *series)
{
	free(series->wait_ns);
	free(series->compute_ns);
	free(series->load_ns);
	free(series->begin_ns);
	free(series->epoch);
	free(series->batch);
	free(series->worker);
	free(series->head_ready);
	series_init(series);
}

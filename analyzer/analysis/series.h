/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the batches of one loader as plain arrays: what every analysis takes.
 *
 * Batches stand in order of (epoch, batch). SERIES_UNKNOWN marks what was not observed. A column of
 * times in which nothing was observed is absent (NULL), and absent is not zero. The other columns
 * always exist once there is a batch and hold -1 for what was not observed.
 */
#ifndef SERIES_H
#define SERIES_H

#include <stddef.h>
#include <stdint.h>

#define SERIES_UNKNOWN INT64_MIN

struct batch_series {
	size_t count;
	size_t capacity;
	int32_t workers;		/* -1: unknown, 0: loaded by the consumer itself */
	int32_t prefetch_factor;	/* -1: unknown */
	int32_t in_order;		/* -1: unknown */
	int32_t persistent;		/* -1: unknown */
	int64_t lost_count;		/* records of the run that were dropped before they were read */
	int64_t *wait_ns;
	int64_t *compute_ns;
	int64_t *load_ns;
	int64_t *begin_ns;
	int32_t *epoch;
	int32_t *batch;			/* ordinal in its epoch */
	int32_t *worker;		/* -1: unknown */
	int8_t *head_ready;		/* 1: finished before it was asked for, 0: not, -1: unknown */
};

struct batch_row {
	int64_t wait_ns;
	int64_t compute_ns;
	int64_t load_ns;
	int64_t begin_ns;
	int32_t epoch;
	int32_t batch;
	int32_t worker;
	int8_t head_ready;
};

void series_init(struct batch_series *series);

/* Appends one batch. 0 or -ENOMEM; the series stays valid either way. */
int series_append(struct batch_series *series, const struct batch_row *row);

/* Frees the arrays; the series may be reused after series_init(). */
void series_done(struct batch_series *series);

#endif

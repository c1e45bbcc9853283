/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - the numbers of ranks in Prometheus' text format, which node-exporter's textfile
 * collector and promtool read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/account.h"

enum metric {
#define METRIC(id, name, type, part, help) METRIC_##id,
#include "drain/metrics.def"
#undef METRIC
	METRIC_MAX
};

/* A part of the account in its place. */
static inline enum metric metric_of_part(enum account_part part)
{
	return METRIC_WAIT_NOT_READY + part;
}

struct metrics {
	const char *job_id, *version, *clock; /* NULL: not known */
	int64_t rank, local_rank;             /* < 0: not known */
	double value[METRIC_MAX];             /* as Prometheus wants it; NAN: none is shown */
};

/* All of them in one text: samples of a name stand together. Errors are the stream's. */
void metrics_put(FILE *out, const struct metrics *ranks, size_t count);

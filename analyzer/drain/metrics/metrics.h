/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h - writes a rank's metrics as text for node-exporter's textfile collector. */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum metric {
#define METRIC(id, name, type, part, help) METRIC_##id,
#include "drain/metrics/metrics.def"
#undef METRIC
	METRIC_MAX
};

struct metrics {
	const char *job_id, *version, *clock; /* NULL: unknown */
	int64_t rank, local_rank;             /* < 0: unknown */
	double value[METRIC_MAX];             /* in Prometheus' units; NAN: not written */
};

/* Writes the metrics to `out`; errors show in ferror(out). */
void metrics_put(FILE *out, const struct metrics *rank);

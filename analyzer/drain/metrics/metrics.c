/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/metrics/metrics.h"

#include <inttypes.h>
#include <math.h>

static const struct {
	const char *name, *type, *part, *help;
} rows[METRIC_MAX] = {
#define METRIC(id, name, type, part, help) {name, type, part, help},
#include "drain/metrics/metrics.def"
#undef METRIC
};

/* Prometheus would refuse a file with a single invalid byte of UTF-8. */
static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; value && *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value >= ' ' && *value <= '~' ? *value : '?', out);
	}
	fputc('"', out);
}

static void put_number_label(FILE *out, const char *name, int64_t value)
{
	fprintf(out, ",%s=\"%" PRId64 "\"", name, value < 0 ? 0 : value);
}

static void put_sample(FILE *out, enum metric metric, const struct metrics *rank)
{
	fprintf(out, "%s{", rows[metric].name);
	put_label(out, "job_id", rank->job_id);
	put_number_label(out, "rank", rank->rank);
	put_number_label(out, "local_rank", rank->local_rank);
	if (rows[metric].part)
		fprintf(out, ",part=\"%s\"", rows[metric].part);
	if (metric == METRIC_INFO) {
		put_label(out, ",version", rank->version);
		put_label(out, ",clock", rank->clock);
	}
	fprintf(out, "} %.15g\n", rank->value[metric]);
}

void metrics_put(FILE *out, const struct metrics *rank)
{
	for (enum metric metric = 0; metric < METRIC_MAX; metric++) {
		if (rows[metric].help)
			fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", rows[metric].name,
				rows[metric].help, rows[metric].name, rows[metric].type);
		if (!isnan(rank->value[metric]))
			put_sample(out, metric, rank);
	}
	fputs("# EOF\n", out);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - target: whatever is given as a CSV of batches, it is read or refused in one sentence,
 * and what was read can be judged.
 *
 * Beside what sanitizers see: values are in the range that the columns promise, rows stand in
 * order, and a refusal says where.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/cause.h"
#include "fuzz.h"
#include "report/data/table.h"

#define MOST_ROWS 4096

static void check_problem(int r, const struct table_problem *problem)
{
	if (r >= 0)
		return;
	FUZZ_DEMAND(r == -EINVAL);
	FUZZ_DEMAND(problem->text[0] && !strchr(problem->text, '\n'));
	FUZZ_DEMAND(problem->column >= 1);
}

static int32_t narrow(int64_t value)
{
	return value < 0 || value > INT32_MAX ? -1 : (int32_t)value;
}

static void check_row(const struct table_row *read, const struct batch_values *before)
{
	const struct batch_values *row = &read->batch;
	const int64_t counts[] = {read->rank, row->worker_id, row->qdepth};
	const int64_t times[] = {row->begin_ns,         row->wait_ns,    row->load_ns,
				 row->compute_ns,       row->step_ns,    row->cpu_ns,
				 row->gpu_idle_wait_ns, row->gpu_busy_ns};
	size_t i;

	FUZZ_DEMAND(row->epoch >= 0 && row->epoch <= INT32_MAX);
	FUZZ_DEMAND(row->batch >= 0 && row->batch <= INT32_MAX);
	for (i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		FUZZ_DEMAND(counts[i] == UNKNOWN ||
			    (counts[i] >= 0 && counts[i] <= INT32_MAX));
	for (i = 0; i < sizeof(times) / sizeof(*times); i++)
		FUZZ_DEMAND(times[i] == UNKNOWN || times[i] >= 0);
	FUZZ_DEMAND(row->head_ready == UNKNOWN || row->head_ready == 0 ||
		    row->head_ready == 1);
	if (before->epoch >= 0)
		FUZZ_DEMAND(row->epoch > before->epoch ||
			    (row->epoch == before->epoch && row->batch > before->batch));
}

static void append(struct batch_series *series, const struct batch_values *row)
{
	const struct batch_row batch = {
		.wait_ns = row->wait_ns,
		.compute_ns = row->compute_ns,
		.load_ns = row->load_ns,
		.load_cpu_ns = row->cpu_ns,
		.gpu_idle_ns = row->gpu_idle_wait_ns,
		.gpu_busy_ns = row->gpu_busy_ns,
		.step_ns = row->step_ns,
		.epoch = (int32_t)row->epoch,
		.batch = (int32_t)row->batch,
		.worker = narrow(row->worker_id),
		.qdepth = narrow(row->qdepth),
		.head_ready = row->head_ready < 0 ? -1 : (int8_t)row->head_ready,
	};

	FUZZ_DEMAND(series_append(series, &batch) == 0);
}

static void judge(struct batch_series *series)
{
	struct diagnosis diagnosis;
	struct finding finding;

	stall_judge(series, &finding);
	FUZZ_DEMAND(cause_find(series, &finding, NULL, &diagnosis) == 0);
	FUZZ_DEMAND(isnan(finding.stall_ratio) ||
		    (finding.stall_ratio >= 0 && finding.stall_ratio <= 1));
}

static void read_table(FILE *file, struct batch_series *series)
{
	struct batch_values before = {.epoch = -1};
	struct table_row row;
	struct table_problem problem = {0};
	struct table *table = NULL;
	int r = table_open(file, &table, &problem);

	check_problem(r, &problem);
	while (r >= 0 && series->count < MOST_ROWS) {
		r = table_next(table, &row, &problem);
		check_problem(r, &problem);
		if (r <= 0)
			break;
		check_row(&row, &before);
		append(series, &row.batch);
		before = row.batch;
	}
	table_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct batch_series series;
	FILE *file;

	if (!size)
		return 0;
	file = fmemopen((void *)(uintptr_t)bytes, size, "r");
	FUZZ_DEMAND(file != NULL);
	series_init(&series);
	/* Of one byte a loader, so that what is known of it varies as well. */
	series.workers = bytes[size - 1] % 9;
	series.in_order = 1;
	series.prefetch_factor = 2;
	read_table(file, &series);
	judge(&series);
	series_done(&series);
	fclose(file);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "grounds_model.h"

#include <criterion/criterion.h>

#include "analysis/cause/cause.h"
#include "model.h"

double cores = 16;

void make_none(void)
{
	series_init(&series);
	series.workers = 4;
	series.prefetch_factor = 2;
	series.in_order = 1;
	series.cores = cores;
}

int epochs = 1;

void make(double (*load_ms)(int batch), int (*worker)(int batch))
{
	make_none();
	for (int i = 0; i < LOADS; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = i * epochs / LOADS;
		row.batch = i % (LOADS / epochs);
		row.load_ns = (int64_t)((load_ms ? load_ms(i) : 100) * MS);
		row.wait_ns = row.load_ns / 4;
		row.handover_ns = (int64_t)(0.1 * MS);
		row.compute_ns = (int64_t)(20 * MS);
		row.worker = worker ? worker(i) : i % 4;
		row.head_ready = 0;
		row.load_cpu_ns = row.load_ns / 2;
		cr_assert_eq(series_append(&series, &row), 0);
	}
}

enum cause judge(const struct cause_input *input)
{
	stall_judge(&series, &finding);
	cr_assert_eq(cause_find(&series, &finding, input, &diagnosis), 0);
	series_done(&series);
	return diagnosis.cause;
}

const struct advice *advised(enum advice_id id)
{
	for (size_t i = 0; i < diagnosis.advice.count; i++)
		if (diagnosis.advice.steps[i].id == id)
			return &diagnosis.advice.steps[i];
	return NULL;
}

bool is_advised(enum advice_id id)
{
	return advised(id);
}

struct load_facts no_waits(void)
{
	struct load_facts facts = load_facts_unknown();

	facts.load_ns = LOADS * 100 * MS;
	for (int kind = 0; kind < LOAD_WAIT_MAX; kind++)
		facts.wait_ns[kind] = 0;
	return facts;
}

const struct load_times TIMES = {
	.load_ns = LOADS * 100 * MS,
	.cpu_ns = LOADS * 50 * MS,
	.open_ns = 0,
	.read_ns = 0,
	.decode_ns = 0,
	.collate_ns = 0,
	.other_ns = LOADS * 100 * MS,
	.blocked_ns = 0,
	.samples = LOADS * 10,
};

enum cause judge_facts(const struct load_facts *facts)
{
	make(NULL, NULL);
	return judge(&(struct cause_input){.loads = &TIMES, .facts = facts});
}

enum cause judge_delivery(double fetch_ms, double fetch_count, double cpu_share,
			   double load_ms, const struct cause_input *input)
{
	make_none();
	series.main_cores = 0.3;
	for (int i = 0; i < LOADS; i++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.load_ns = (int64_t)(load_ms * MS);
		row.wait_ns = row.handover_ns = (int64_t)(60 * MS);
		row.compute_ns = (int64_t)(40 * MS);
		row.worker = i % 4;
		row.head_ready = 1;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	series.receive_count = LOADS;
	series.receive_ns = 60 * MS * LOADS;
	series.fetches.batches = LOADS;
	series.fetches.count = fetch_count * LOADS;
	series.fetches.ns = fetch_ms * MS * LOADS;
	series.fetches.cpu_ns = cpu_share * series.fetches.ns;
	return judge(input);
}

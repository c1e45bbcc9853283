/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies that need their own evidence: just enough of it and just too little. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "grounds_model.h"
#include "model.h"

Test(remedies, loads_that_wait_in_page_faults_of_a_mapped_file)
{
	struct load_facts facts = no_waits();

	facts.faults = facts.major_faults = 1e5;
	for (int percent = 49; percent <= 51; percent += 2) {
		facts.wait_ns[LOAD_WAIT_FAULT] = percent / 100. * facts.load_ns;
		cr_expect_eq(judge_facts(&facts), CAUSE_LOADER_CAPACITY, "not memory");
		cr_expect_eq(is_advised(ADVICE_FAULT_LESS), percent > 50);
		cr_expect(is_advised(ADVICE_MORE_LOADER_CAPACITY));
	}
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_FAULT_LESS);
	cr_expect_eq(diagnosis.advice.steps[0].low, 0);
	cr_expect_gt(diagnosis.advice.steps[0].high, diagnosis.advice.steps[0].gain);
	facts.swapped_bytes = 1;
	cr_expect_eq(judge_facts(&facts), CAUSE_MEMORY);
	facts.swapped_bytes = facts.wait_ns[LOAD_WAIT_FAULT] = 0;
	cr_expect_eq(judge_facts(&facts), CAUSE_MEMORY, "not of a mapped file");
}

/* Now and then the loop waits long for its other loader: when is not known. */
Test(remedies, rare_waits_for_another_loader_are_no_pauses_of_the_workers)
{
	const double load_ns = 212 * MS, step_ns = 30 * MS;
	double free_ns[2] = {0}, now_ns = 0;

	series_init(&series);
	series.workers = series.prefetch_factor = 2;
	series.in_order = 1;
	series.cores = 16;
	for (int i = 0; i < 300; i++) {
		const double end_ns = free_ns[i % 2] + load_ns;
		const double out_ns = fmax(now_ns, end_ns) + 0.1 * MS;
		const double other_ns = i % 15 == 7 ? 150 * MS : 0;
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.batch = i;
		row.worker = i % 2;
		row.load_ns = (int64_t)load_ns;
		row.load_cpu_ns = 0;
		row.wait_ns = (int64_t)(out_ns - now_ns);
		row.handover_ns = (int64_t)(0.1 * MS);
		row.head_ready = end_ns <= now_ns;
		row.compute_ns = (int64_t)step_ns;
		cr_assert_eq(series_append(&series, &row), 0);
		series.elsewhere_ns += other_ns;
		free_ns[i % 2] = end_ns;
		now_ns = out_ns + step_ns + other_ns;
	}
	judge(NULL);
	cr_expect_eq(diagnosis.whatif.gap, WHATIF_GAP_NONE, "off by %g", diagnosis.whatif.off);
	cr_expect_gt(diagnosis.whatif.more_workers, 2);
}

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

/* SPDX-License-Identifier: Apache-2.0 */
/* test_delivery.c - tests causes of batches that are finished and take long to receive. */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "grounds_model.h"
#include "model.h"

Test(delivery, receiving_is_asking_a_busy_worker)
{
	cr_expect_eq(judge_delivery(40, 2, 0.01, 201, NULL), CAUSE_WORKER_INTERPRETER);
	cr_expect_float_eq(diagnosis.grounds.fetch.each_ns, 20 * MS, 1);
	cr_expect_eq(judge_delivery(29, 2, 0.01, 201, NULL), CAUSE_DELIVERY, "under half of it");
	cr_expect_eq(judge_delivery(40, 41, 0.01, 201, NULL), CAUSE_DELIVERY, "short ones");
	cr_expect_eq(judge_delivery(40, 2, 0.51, 201, NULL), CAUSE_DELIVERY, "its own work");
	cr_expect_eq(judge_delivery(0, 0, 0, 201, NULL), CAUSE_DELIVERY);
	cr_expect_eq(judge_delivery(40, 2, 0.01, 199, NULL), CAUSE_DELIVERY, "the workers rest");
}

/* Four workers that take 380 ms deliver a batch in 95 ms at best, where one now takes 100 ms. */
Test(delivery, workers_that_are_too_slow_stay_so_if_they_answer_at_once)
{
	cr_expect_eq(judge_delivery(40, 2, 0.01, 380, NULL), CAUSE_LOADER_CAPACITY);
	cr_expect(diagnosis.causes[0].ns >= 55 * MS * (LOADS - 8));
	for (size_t i = 1; i < diagnosis.cause_count; i++)
		cr_expect(diagnosis.causes[i].cause != CAUSE_WORKER_INTERPRETER ||
			  diagnosis.causes[i].ns <= 5 * MS * LOADS);
}

/* What can be done goes before what can only be looked at, even if all of that would bring more. */
Test(delivery, sharing_by_files_goes_before_looking_at_what_is_received)
{
	judge_delivery(40, 20, 0.6, 120, NULL);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_FILE_SYSTEM_SHARING, "%s",
		     advice_names[diagnosis.advice.steps[0].id]);
	judge_delivery(0, 0, 0, 201, NULL);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_INSPECT_WAITS, "%s",
		     advice_names[diagnosis.advice.steps[0].id]);
}

Test(delivery, another_thread_has_the_interpreter)
{
	struct load_facts facts = no_waits();
	const struct cause_input input = {.facts = &facts};

	facts.threads[0] = (struct load_thread){"feature", 11 * 1e9};
	facts.thread_count = 1;
	cr_expect_eq(judge_delivery(40, 2, 0.01, 201, &input), CAUSE_INTERPRETER_HELD);
	cr_expect_str_eq(diagnosis.grounds.holder.name, "feature");
	facts.threads[0].cpu_ns = 9 * 1e9;
	cr_expect_eq(judge_delivery(40, 2, 0.01, 201, &input), CAUSE_WORKER_INTERPRETER);
}

/* A step takes 100 ms, and receiving a batch 30 ms more; without workers its load comes instead. */
Test(delivery, loading_may_take_less_than_receiving)
{
	const struct whatif *w = &diagnosis.whatif;
	struct model m = HEALTHY;

	m.delivery = 30;
	m.load = 10;
	model_diagnose(&m);
	series_done(&series);
	/* In the training's own process the load may take 6.5 ms, 3.1 ms, or all of its 10 ms. */
	cr_expect_float_eq(w->batches_per_s[WHATIF_NO_WORKERS], 1e3 / 106.5, 0.02);
	cr_expect_float_eq(w->gain[WHATIF_NO_WORKERS], 130 / 106.5 - 1, 0.002);
	cr_expect_gt(w->high_per_s[WHATIF_NO_WORKERS], exp(0.04) * 1e3 / 103.1);
	cr_expect_lt(w->low_per_s[WHATIF_NO_WORKERS], 1e3 / 110 + 0.02);
	cr_expect_eq(diagnosis.cause, CAUSE_DELIVERY, "%s", cause_names[diagnosis.cause]);
	cr_expect_eq(diagnosis.advice.steps[0].id, ADVICE_USE_NO_WORKERS, "%s",
		     advice_names[diagnosis.advice.steps[0].id]);
	m.load = 50;
	model_diagnose(&m);
	series_done(&series);
	cr_expect(isnan(w->batches_per_s[WHATIF_NO_WORKERS]), "132.5 ms instead of 130");
}

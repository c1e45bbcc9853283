/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "drain/gpu/gaps.h"

#define END 400

static struct gaps gaps;
static struct gap gap;
static const char *why;

/* Begins and ends gaps of all kinds at random: a time is spared if no gap covers it. */
Test(gaps, random_ones_agree_with_counting)
{
	bool covered[END + 1];

	srand(1);
	for (int round = 0; round < 300; round++) {
		int64_t open[GAPS_KIND_MAX] = {END, END, END};

		gaps_init(&gaps, 0);
		memset(covered, 0, sizeof(covered));
		for (int at = 0; at < END - 1; at += 1 + rand() % 20) {
			enum gaps_kind kind = rand() % GAPS_KIND_MAX;

			if (rand() % 2) {
				cr_expect_eq(gaps_begin(&gaps, kind, at), open[kind] == END);
				open[kind] = at < open[kind] ? at : open[kind];
			} else {
				cr_expect_eq(gaps_end(&gaps, kind, at, &gap), open[kind] < END);
				for (int64_t i = open[kind]; i < at; i++)
					covered[i] = true;
				open[kind] = END;
			}
		}
		for (int kind = 0; kind < GAPS_KIND_MAX; kind++)
			for (int64_t i = open[kind]; i < END; i++)
				covered[i] = true;
		for (int i = 0; i < 200; i++) {
			int begin = rand() % (END - 1), end = begin + 1 + rand() % (END - begin);
			bool free = !memchr(covered + begin, true, (size_t)(end - begin));

			cr_expect_eq(gaps_spare(&gaps, begin, end), free, "%d to %d", begin, end);
			cr_expect_eq(gaps_may_spare(&gaps, end), open[GAPS_TOLD] < end);
		}
	}
}

Test(gaps, one_that_was_none_leaves_nothing)
{
	gaps_init(&gaps, 0);
	cr_expect(gaps_begin(&gaps, GAPS_TOLD, 100));
	cr_expect_not(gaps_spare(&gaps, 90, 110));
	cr_expect(gaps_end(&gaps, GAPS_TOLD, 100, &gap));
	cr_expect(gaps_spare(&gaps, 90, 110));
	cr_expect_eq(gaps.count, 0);
}

/* If there are more gaps than are kept, all time before the oldest kept one is unknown too. */
Test(gaps, what_is_forgotten_is_unknown)
{
	gaps_init(&gaps, 0);
	for (int64_t i = 0; i < 3 * GAPS_MOST; i++) {
		gaps_begin(&gaps, GAPS_DOUBTED, 100 * i + 50);
		gaps_end(&gaps, GAPS_DOUBTED, 100 * i + 60, &gap);
	}
	for (int64_t i = 0; i < 3 * GAPS_MOST; i++) {
		cr_expect_not(gaps_spare(&gaps, 100 * i + 40, 100 * i + 55), "%d", (int)i);
		if (i > 2 * GAPS_MOST)
			cr_expect(gaps_spare(&gaps, 100 * i, 100 * i + 50), "%d", (int)i);
	}
}

static struct dlprof_gpu_state state, before;

/* Judges a moment since which there are more records: bad ones, dropped by CUPTI, or by dlprof. */
static bool judge(int64_t when_ns, unsigned int records, unsigned int bad, unsigned int dropped,
		  unsigned int own)
{
	before = state;
	state.record_count += records;
	state.bad_count += bad;
	state.dropped_count += dropped;
	state.own_drop_count += own;
	return gaps_judge(&gaps, when_ns, &before, &state, &gap, &why);
}

static void start(void)
{
	memset(&state, 0, sizeof(state));
	gaps_init(&gaps, 0);
}

Test(gaps, a_few_are_no_reason_to_doubt, .init = start)
{
	for (int64_t i = 1; i < 100; i++)
		cr_expect_not(judge(i * 10, 100, 4, 0, 0));
	/* One bad record of few may be the operation that ran when the program ended. */
	cr_expect_not(judge(1000, 3, 1, 0, 0));
	cr_expect(gaps_spare(&gaps, 0, 1000));
}

Test(gaps, many_are_until_the_first_that_are_sound, .init = start)
{
	cr_expect_not(judge(10, 100, 0, 0, 0));
	cr_expect(judge(20, 100, 6, 0, 0));
	cr_expect(gap.begin_ns == 10 && gap.end_ns == GAPS_OPEN);
	cr_expect_not_null(strstr(why, "times"));
	cr_expect_not(judge(30, 100, 50, 0, 0), "it is open already");
	/* Without new records the gap neither ends nor begins. */
	cr_expect_not(judge(40, 0, 0, 0, 0));
	cr_expect(judge(50, 100, 0, 0, 0));
	cr_expect(gap.begin_ns == 10 && gap.end_ns == 50);
	cr_expect(gaps_spare(&gaps, 0, 10));
	cr_expect_not(gaps_spare(&gaps, 9, 11));
	cr_expect_not(gaps_spare(&gaps, 49, 60));
	cr_expect(gaps_spare(&gaps, 50, 60));
}

Test(gaps, lost_ones_count_as_well, .init = start)
{
	cr_expect_not(judge(10, 100, 0, 4, 1));
	cr_expect(judge(20, 100, 0, 0, 6));
	cr_expect_not_null(strstr(why, "lost"));
}

Test(gaps, few_records_wait_for_more, .init = start)
{
	cr_expect_not(judge(10, 1, 1, 0, 0));
	cr_expect(judge(20, 1, 1, 0, 0));
	cr_expect_eq(gap.begin_ns, 0);
	/* Too few records to end the gap. */
	cr_expect_not(judge(30, GAPS_FEWEST - 1, 0, 0, 0));
	cr_expect(judge(40, 1, 0, 0, 0));
	cr_expect_eq(gap.end_ns, 40);
}

/* Counters of a damaged segment may go back. */
Test(gaps, counters_that_go_back, .init = start)
{
	srand(3);
	for (int64_t i = 0; i < 10000; i++) {
		before = state;
		state.record_count = (uint64_t)rand() << (rand() % 34);
		state.bad_count = (uint64_t)rand() << (rand() % 34);
		state.dropped_count = (uint64_t)rand() << (rand() % 34);
		gaps_judge(&gaps, i, &before, &state, &gap, &why);
		cr_assert_leq(gaps.count, GAPS_MOST);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "cuda/unfinished.h"

enum { S = 1000000000 };

static void cut(uint32_t device, uint32_t stream, uint64_t since_ns, uint64_t forced_ns)
{
	unfinished_note(device, stream, since_ns, 0, forced_ns);
}

/* A cut operation makes a gap between its stream's whole operations before and after it. */
Test(unfinished, between_what_is_whole)
{
	uint64_t ns;

	cr_expect_not(unfinished_begins(&ns));
	cr_expect(unfinished_ended(1, &ns), "nothing was cut off");
	unfinished_pass(0, 7, 100, 200);
	unfinished_pass(0, 7, 50, 90);
	cut(0, 7, 200, 500);
	cut(0, 7, 210, 500);
	cr_expect(unfinished_begins(&ns));
	cr_expect_eq(ns, 200);
	cr_expect_not(unfinished_begins(&ns), "once");
	cr_expect_not(unfinished_ended(501, &ns));
	unfinished_pass(0, 7, 499, 499);
	cr_expect_not(unfinished_ended(501, &ns), "from before, read later");
	unfinished_pass(0, 7, 700, 800);
	cr_expect(unfinished_ended(900, &ns));
	cr_expect_eq(ns, 700);
}

/* Each stream of each device must have a whole operation again before the gap ends. */
Test(unfinished, all_streams_count)
{
	uint64_t ns;

	cut(0, 7, 300, 500);
	cut(1, 7, 250, 500);
	cut(0, 13, 600, 500);
	cr_expect(unfinished_begins(&ns) && ns == 250);
	unfinished_pass(0, 7, 900, 950);
	unfinished_pass(0, 13, 800, 850);
	cr_expect_not(unfinished_ended(1000, &ns));
	unfinished_pass(0, 9, 960, 970);
	unfinished_pass(1, 7, 750, 760);
	cr_expect(unfinished_ended(1000, &ns));
	cr_expect_eq(ns, 900, "the last of them");
	/* A second gap, which ends with the next operation. */
	cut(1, 7, 2000, 2100);
	cr_expect(unfinished_begins(&ns) && ns == 2000);
	unfinished_pass(1, 7, 2100, 2200);
	cr_expect(unfinished_ended(2300, &ns));
	cr_expect_eq(ns, 2100);
}

/* A gap ends after a limit even if its stream is not used again. */
Test(unfinished, the_longest)
{
	uint64_t ns;

	cut(0, 7, 1 * S, 2 * S);
	unfinished_begins(&ns);
	cr_expect_not(unfinished_ended(2 * S + UNFINISHED_LONGEST_NS - 1, &ns));
	cr_expect(unfinished_ended(2 * S + UNFINISHED_LONGEST_NS, &ns));
	cr_expect_eq(ns, 2 * S + UNFINISHED_LONGEST_NS);
	unfinished_pass(0, 7, 40ull * S, 41ull * S);
	cr_expect(unfinished_ended(50ull * S, &ns), "over");
}

/* An operation without a begin begins after all others of its stream, in any order of records. */
Test(unfinished, without_a_begin)
{
	uint64_t ns;

	unfinished_note(0, 7, 0, 40, 500); /* waits for the rest of its buffer */
	unfinished_pass(0, 7, 100, 200);
	unfinished_pass(0, 7, 50, 90);
	unfinished_pass(0, 8, 250, 290);
	cr_expect_not(unfinished_begins(&ns));
	unfinished_settle();
	cr_expect(unfinished_begins(&ns));
	cr_expect_eq(ns, 200, "another stream's end says nothing");
	unfinished_note(0, 7, 0, 300, 500);
	unfinished_settle();
	cr_expect(unfinished_begins(&ns));
	cr_expect_eq(ns, 300, "its buffer is younger");
	unfinished_note(0, 7, 0, 40, 500);
	unfinished_note(0, 7, 430, 40, 500);
	cr_expect(unfinished_begins(&ns));
	cr_expect_eq(ns, 430);
	unfinished_settle();
	cr_expect(unfinished_begins(&ns));
	cr_expect_eq(ns, 430, "the one that has begun is before it");
}

/* Our own flush makes no gap: all is known until the first operation that it cut off. */
Test(unfinished, at_the_end)
{
	uint64_t ns;

	cr_expect_eq(unfinished_at_end_ns(), UINT64_MAX);
	unfinished_note(0, 7, 900, 40, 0);
	unfinished_note(0, 8, 700, 40, 0);
	unfinished_note(0, 8, 0, 40, 0);
	unfinished_settle();
	cr_expect_eq(unfinished_at_end_ns(), 700);
	cr_expect_not(unfinished_begins(&ns));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>

#include "analysis/account/share.h"

Test(share, cores_are_divided_by_weight_and_group)
{
	struct share s = {.cores = 2, .all = 2, .count = 1};

	/* Two threads of the run beside two threads of nice 19. */
	s.neighbours[0] = (struct share_neighbour){false, 0.0144, 2, 2};
	cr_assert_gt(share_of_thread(&s, 2, 1), 0.97);
	/* Beside two threads of equal priority each gets half of a core. */
	s.neighbours[0] = (struct share_neighbour){false, 1, 2, 2};
	cr_assert_float_eq(share_of_thread(&s, 2, 1), 0.5, 1e-9);
	cr_assert_float_eq(share_of_thread(&s, 6, 1), 0.25, 1e-9);
	/* Another control group gets half, whatever threads the run has, or what it uses. */
	s.neighbours[0] = (struct share_neighbour){true, 1, 2, 2};
	cr_assert_float_eq(share_of_thread(&s, 4, 1), 0.25, 1e-9);
	s.neighbours[0] = (struct share_neighbour){true, 1, 0.5, 0.5};
	cr_assert_float_eq(share_of_thread(&s, 4, 1), 0.375, 1e-9);
	/* No thread gets more than a core, and the run no more than its limit. */
	cr_assert_eq(share_of_thread(&s, 1, 1), 1);
	s.cores = 1;
	cr_assert_float_eq(share_of_thread(&s, 4, 1), 0.25, 1e-9);
	s.all = NAN;
	cr_assert_eq(share_of_thread(&s, 4, 1), 1);
}

Test(share, groups_that_ran_little_did_not_want_much)
{
	struct share s = {.cores = 2, .all = 2, .count = 2};

	/* Beside the run and one other group the fair part of each is one of the two cores. */
	s.neighbours[0] = (struct share_neighbour){true, 1, 0.05, 0.9};
	s.neighbours[1] = (struct share_neighbour){false, 1, 0.05, 0.9};
	share_bound(&s);
	cr_assert_float_eq(s.neighbours[0].wanted, 0.1, 1e-9);
	/* A thread in the run's group may be kept from cores by the run's own threads. */
	cr_assert_eq(s.neighbours[1].wanted, 0.9);
	/* A group that got its fair part may want more. */
	s.neighbours[0] = (struct share_neighbour){true, 1, 0.9, 2};
	share_bound(&s);
	cr_assert_eq(s.neighbours[0].wanted, 2);
	s.neighbours[0] = (struct share_neighbour){true, 1, 0.4, 0.5};
	share_bound(&s);
	cr_assert_eq(s.neighbours[0].wanted, 0.5);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/share.h"

#include <math.h>

#define WELL_BELOW  0.5 /* a group that used a smaller part of its fair cores got all it wanted */
#define MOST_WANTED 2.0 /* a group that got all it wanted could use this many times as much */

struct claim {
	double weight;
	double wanted;
	double got; /* below 0 until it is computed */
};

/* Divides cores. A claim of less than its share by weight is met in full; others share the rest. */
static void divide(struct claim *claims, size_t count, double cores)
{
	bool is_done = false;

	for (size_t i = 0; i < count; i++)
		claims[i].got = -1;
	while (!is_done) {
		double weight = 0, left = cores;

		for (size_t i = 0; i < count; i++) {
			weight += claims[i].got < 0 ? claims[i].weight : 0;
			left -= claims[i].got < 0 ? 0 : claims[i].got;
		}
		is_done = true;
		for (size_t i = 0; i < count; i++) {
			if (claims[i].got >= 0 ||
			    claims[i].wanted * weight > claims[i].weight * left)
				continue;
			claims[i].got = claims[i].wanted;
			is_done = false;
		}
		for (size_t i = 0; is_done && i < count; i++)
			if (claims[i].got < 0)
				claims[i].got = claims[i].weight / weight * left;
	}
}

double share_of_thread(const struct share *share, double threads, double want)
{
	/* The first claim in each list is the run's. */
	struct claim groups[1 + SHARE_NEIGHBOURS] = {{.weight = 1, .wanted = threads}};
	struct claim own[1 + SHARE_NEIGHBOURS] = {{.weight = threads, .wanted = threads}};
	size_t group_count = 1, own_count = 1, i;

	if (!(share->all > 0) || !(threads > 0))
		return 1;
	for (i = 0; i < share->count; i++) {
		const struct share_neighbour *n = &share->neighbours[i];
		double wanted = n->wanted * want;

		if (n->is_group) {
			groups[group_count++] = (struct claim){n->weight, wanted, 0};
		} else {
			own[own_count++] = (struct claim){n->weight * wanted, wanted, 0};
			groups[0].wanted += wanted;
		}
	}
	divide(groups, group_count, share->all);
	divide(own, own_count, groups[0].got);
	return fmin(fmin(own[0].got, share->cores) / threads, 1);
}

double share_wanted(const struct share *share)
{
	double wanted = 0;

	for (size_t i = 0; i < share->count; i++)
		wanted += share->neighbours[i].wanted;
	return wanted;
}

void share_bound(struct share *share)
{
	double weights = 1;

	for (size_t i = 0; i < share->count; i++)
		weights += share->neighbours[i].is_group ? share->neighbours[i].weight : 0;
	for (size_t i = 0; i < share->count; i++) {
		struct share_neighbour *n = &share->neighbours[i];
		const double fair = n->weight / weights * share->all;

		if (n->is_group && n->ran < WELL_BELOW * fair)
			n->wanted = fmin(n->wanted, MOST_WANTED * n->ran);
	}
}

void share_take_out(struct share *share, double cores)
{
	for (size_t i = share->count; i-- > 0 && cores > 0;) {
		struct share_neighbour *n = &share->neighbours[i];
		const double part = n->ran > cores ? cores / n->ran : n->ran > 0;

		cores -= part * n->ran;
		n->ran *= 1 - part;
		n->wanted *= 1 - part;
	}
}

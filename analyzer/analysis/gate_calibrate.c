/* SPDX-License-Identifier: Apache-2.0 */
/* gate_calibrate.c - the gate, repeated on runs between which nothing changed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/gate.h"
#include "analysis/stats.h"

#define DRAWS 10000
#define SEED  UINT64_C(0x452821e638d01377)

/* Makes the first `wanted` of `order` a random choice of all. */
static void shuffle(size_t *order, size_t count, size_t wanted, uint64_t *state)
{
	for (size_t i = 0; i < wanted; i++) {
		size_t other = i + (size_t)(stats_random(state) % (count - i)), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
}

struct draws {
	size_t *order;
	double *before, *now, *error, *margins; /* one block */
	bool *alarmed;
};

static void draw_all(const struct gate_limit *limit, const double *ratios, const double *errors,
		     size_t count, size_t now_count, struct draws *draws,
		     struct gate_calibration *ret)
{
	const size_t before_count = limit->baseline_needed;
	uint64_t state = SEED;

	for (size_t i = 0; i < count; i++)
		draws->order[i] = i;
	for (size_t i = 0; i < DRAWS; i++) {
		shuffle(draws->order, count, before_count + now_count, &state);
		for (size_t k = 0; k < before_count; k++)
			draws->before[k] = ratios[draws->order[k]];
		for (size_t k = 0; k < now_count; k++) {
			draws->now[k] = ratios[draws->order[before_count + k]];
			draws->error[k] = errors[draws->order[before_count + k]];
		}
		draws->margins[i] = gate_margin(
			limit, &(struct gate_groups){draws->before, before_count, draws->now,
						     draws->error, now_count});
		if (draws->margins[i] >= 0)
			continue;
		ret->alarm_count++;
		for (size_t k = 0; k < now_count; k++)
			draws->alarmed[draws->order[before_count + k]] = true;
	}
	for (size_t i = 0; i < count; i++)
		ret->alarm_run_count += draws->alarmed[i];
	stats_sort(draws->margins, DRAWS);
	ret->detect50 = fmax(0, draws->margins[DRAWS / 2]);
	ret->detect95 = fmax(0, draws->margins[DRAWS * 95 / 100]);
}

int gate_calibrate(const struct gate_limit *limit, const double *ratios, const double *errors,
		   size_t count, struct gate_calibration *ret)
{
	size_t now_count = limit->rule == GATE_BOUND ? 1 : limit->run_needed;
	struct draws draws = {
		.order = calloc(count, sizeof(*draws.order)),
		.before = calloc(3 * count + DRAWS, sizeof(*draws.before)),
		.alarmed = calloc(count, sizeof(*draws.alarmed)),
	};
	int r = -EDOM;

	*ret = (struct gate_calibration){.run_count = count, .draw_count = DRAWS};
	if (count >= limit->baseline_needed + now_count)
		r = draws.order && draws.before && draws.alarmed ? 0 : -ENOMEM;
	if (r == 0) {
		draws.now = draws.before + count;
		draws.error = draws.now + count;
		draws.margins = draws.error + count;
		draw_all(limit, ratios, errors, count, now_count, &draws, ret);
	}
	free(draws.order);
	free(draws.before);
	free(draws.alarmed);
	return r;
}

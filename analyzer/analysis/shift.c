/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/shift.h"

#include <math.h>

#include "analysis/replay.h"
#include "analysis/stats.h"

#define PARTS       64
#define PARTS_LEAST 4 /* on either side */
#define QUARTERS    4
#define FEWEST      (4 * (size_t)PARTS)
#define FACTOR      1.3
#define Z_LEAST     6.0

struct part {
	size_t begin; /* index of its first batch */
	double mean_ns;
};

static bool is_looked_at(const struct batch_series *s, size_t i)
{
	return s->state[i] & SERIES_STEADY && s->load_ns[i] >= 0;
}

static bool fill(const struct batch_series *s, struct part *parts)
{
	size_t count = 0, number = 0, i;
	struct stats_moments moments = {0};

	for (i = 0; s->load_ns && i < s->count; i++)
		count += is_looked_at(s, i);
	if (count < FEWEST)
		return false;
	for (i = 0; i < s->count; i++) {
		size_t part = number * PARTS / count;

		if (!is_looked_at(s, i))
			continue;
		if (part != (number - (number > 0)) * PARTS / count || !number) {
			moments = (struct stats_moments){0};
			parts[part].begin = i;
		}
		stats_add(&moments, (double)s->load_ns[i]);
		parts[part].mean_ns = moments.mean;
		number++;
	}
	return true;
}

static struct stats_moments moments_of(const struct part *parts, size_t begin, size_t end)
{
	struct stats_moments moments = {0};
	size_t i;

	for (i = begin; i < end; i++)
		stats_add(&moments, parts[i].mean_ns);
	return moments;
}

static bool is_lasting(const struct part *parts, size_t at, double before_ns)
{
	size_t i;

	for (i = 0; i < QUARTERS; i++) {
		size_t begin = at + (PARTS - at) * i / QUARTERS;
		size_t end = at + (PARTS - at) * (i + 1) / QUARTERS;

		if (!(moments_of(parts, begin, end).mean >= FACTOR * before_ns))
			return false;
	}
	return true;
}

void shift_find(const struct batch_series *s, struct shift *ret)
{
	struct part parts[PARTS];
	double most = Z_LEAST;
	size_t at;

	*ret = (struct shift){.before_ns = NAN, .after_ns = NAN};
	if (!fill(s, parts))
		return;
	for (at = PARTS_LEAST; at <= PARTS - PARTS_LEAST; at++) {
		const struct stats_moments before = moments_of(parts, 0, at);
		const struct stats_moments after = moments_of(parts, at, PARTS);
		double z = replay_welch(&after, &before);

		if (!(z >= most) || !is_lasting(parts, at, before.mean))
			continue;
		most = z;
		*ret = (struct shift){parts[at].begin, before.mean, after.mean};
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "render/run/parts.h"

#include <math.h>
#include <stdio.h>

const struct share_look share_looks[ACCOUNT_PART_MAX + 1] = {
	[ACCOUNT_NOT_READY] = {"not ready", "the batch was not finished when asked for", PAGE_RED,
			       "wait", {"█", "#"}},
	[ACCOUNT_RECEIVING] = {"receiving", "finished batches: until they were in hand",
			       PAGE_YELLOW, "short", {"▓", "="}},
	[ACCOUNT_SAMPLING] = {"sampling", "the sampler: in the training's thread", PAGE_YELLOW,
			      "queue", {"▚", "%"}},
	[ACCOUNT_EPOCH_START] = {"epoch start",
				 "making iterators; the first batches of each epoch, which no step "
				 "can overlap",
				 PAGE_RED, "start", {"▒", "+"}},
	[ACCOUNT_EPOCH_END] = {"epoch end", "the call that ends an epoch", PAGE_RED, "transfer",
			       {"░", "-"}},
	[ACCOUNT_PART_MAX] = {"step", "the rest", PAGE_DIM, "compute", {"·", "."}},
};

static size_t find_parts(const struct account *a, struct share_part ret[SHARES_MOST])
{
	double known_ns = 0;
	size_t n = 0, part;

	for (part = 0; part < ACCOUNT_PART_MAX; part++) {
		if (!(a->part_ns[part] > 0))
			continue;
		known_ns += a->part_ns[part];
		ret[n++] = (struct share_part){share_looks[part].label, (int)part,
					       a->part_ns[part]};
	}
	/* Old databases divide only a part of the waiting, so the remainder is a part, too. */
	if (a->wait_ns - known_ns > a->time_ns / 1e6)
		ret[n++] = (struct share_part){"waiting", ACCOUNT_NOT_READY,
					       a->wait_ns - known_ns};
	return n;
}

/* Rounds the parts such that they add up to `all`: the largest remainders are rounded up. */
static void share_out(struct share_part *parts, size_t count, double units_per_ns, int64_t all)
{
	int64_t left = all;

	for (size_t i = 0; i < count; i++) {
		parts[i].units = (int64_t)floor(parts[i].ns * units_per_ns);
		left -= parts[i].units;
	}
	for (; count && left > 0; left--) {
		double largest = -INFINITY;
		size_t most = 0;

		for (size_t i = 0; i < count; i++) {
			double rest = parts[i].ns * units_per_ns - (double)parts[i].units;

			if (rest > largest) {
				largest = rest;
				most = i;
			}
		}
		parts[most].units++;
	}
}

size_t shares_divide(const struct account *a, struct share_part ret[SHARES_MOST],
		     int64_t *ret_whole)
{
	const int64_t whole = a->ratio * 100 < 9.95 ? 1000 : 100;
	const int64_t waiting = llrint(a->ratio * (double)whole);
	size_t count = find_parts(a, ret);

	share_out(ret, count, (double)whole / a->time_ns, waiting);
	ret[count++] = (struct share_part){share_looks[ACCOUNT_PART_MAX].label, ACCOUNT_PART_MAX,
					   a->step_ns, whole - waiting};
	*ret_whole = whole;
	return count;
}

const char *shares_words(int64_t units, int64_t whole, char buffer[UNITS_MAX])
{
	snprintf(buffer, UNITS_MAX, "%.*f %%", whole > 100 && units < whole ? 1 : 0,
		 (double)units * 100 / (double)whole);
	return buffer;
}

const char *shares_of(const struct account *account, int part, char buffer[UNITS_MAX])
{
	struct share_part parts[SHARES_MOST];
	int64_t whole;
	size_t count = shares_divide(account, parts, &whole);

	for (size_t i = 0; i < count; i++)
		if (parts[i].part == part && parts[i].units)
			return shares_words(parts[i].units, whole, buffer);
	return units_share(buffer, (part < ACCOUNT_PART_MAX ? account->part_ns[part]
							    : account->step_ns) /
					   account->time_ns);
}

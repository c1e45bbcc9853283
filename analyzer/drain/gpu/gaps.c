/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu/gaps.h"

#include <string.h>

void gaps_init(struct gaps *gaps, int64_t known_ns)
{
	memset(gaps, 0, sizeof(*gaps));
	gaps->known_ns = gaps->window_ns = known_ns;
	for (int kind = 0; kind < GAPS_KIND_MAX; kind++)
		gaps->open_ns[kind] = GAPS_OPEN;
}

bool gaps_begin(struct gaps *gaps, enum gaps_kind kind, int64_t begin_ns)
{
	if (gaps->open_ns[kind] != GAPS_OPEN)
		return false;
	gaps->open_ns[kind] = begin_ns;
	return true;
}

static void keep(struct gaps *gaps, struct gap gap)
{
	if (gaps->count == GAPS_MOST) {
		/* When the oldest gap is dropped, all time before its end is unknown. */
		if (gaps->items[0].end_ns > gaps->known_ns)
			gaps->known_ns = gaps->items[0].end_ns;
		memmove(gaps->items, gaps->items + 1, sizeof(gaps->items) - sizeof(struct gap));
		gaps->count--;
	}
	gaps->items[gaps->count++] = gap;
}

bool gaps_end(struct gaps *gaps, enum gaps_kind kind, int64_t end_ns, struct gap *ret_gap)
{
	if (gaps->open_ns[kind] == GAPS_OPEN)
		return false;
	*ret_gap = (struct gap){gaps->open_ns[kind], end_ns};
	gaps->open_ns[kind] = GAPS_OPEN;
	if (end_ns > ret_gap->begin_ns)
		keep(gaps, *ret_gap);
	return true;
}

/* Returns how much a counter grew; 0 if it shrank, as in a damaged segment. */
static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

bool gaps_judge(struct gaps *gaps, int64_t when_ns, const struct dlprof_gpu_state *before,
		const struct dlprof_gpu_state *now, struct gap *ret_gap, const char **ret_why)
{
	uint64_t bad = grown(before->bad_count, now->bad_count);
	uint64_t lost = grown(before->dropped_count, now->dropped_count) +
			grown(before->own_drop_count, now->own_drop_count);
	int64_t begin_ns = gaps->window_ns;

	gaps->record_count += grown(before->record_count, now->record_count) + lost;
	gaps->useless_count += bad + lost;
	*ret_why = bad > lost ? "too many records have times that cannot be"
			      : "too many records are lost";
	/* A single lost or impossible record is tolerated: a program's end may cause one. */
	if (gaps->useless_count >= 2 &&
	    (double)gaps->useless_count > GAPS_DOUBT * (double)gaps->record_count) {
		gaps->window_ns = when_ns;
		gaps->record_count = gaps->useless_count = 0;
		*ret_gap = (struct gap){begin_ns, GAPS_OPEN};
		return gaps_begin(gaps, GAPS_DOUBTED, begin_ns);
	}
	if (gaps->record_count < GAPS_FEWEST)
		return false;
	gaps->window_ns = when_ns;
	gaps->record_count = gaps->useless_count = 0;
	/* The gap ends with this sound second, not before it, because records come late. */
	return gaps_end(gaps, GAPS_DOUBTED, when_ns, ret_gap);
}

bool gaps_spare(const struct gaps *gaps, int64_t begin_ns, int64_t end_ns)
{
	if (begin_ns < gaps->known_ns)
		return false;
	for (int kind = 0; kind < GAPS_KIND_MAX; kind++)
		if (gaps->open_ns[kind] < end_ns)
			return false;
	for (uint32_t i = 0; i < gaps->count; i++)
		if (gaps->items[i].begin_ns < end_ns && gaps->items[i].end_ns > begin_ns)
			return false;
	return true;
}

bool gaps_may_spare(const struct gaps *gaps, int64_t end_ns)
{
	return gaps->open_ns[GAPS_TOLD] < end_ns;
}

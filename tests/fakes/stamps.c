/* SPDX-License-Identifier: Apache-2.0 */
#include "stamps.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t (*source)(void);
static uint64_t source_ns[2]; /* now_ns() and the client's clock when that was registered */

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Returns the jump of CLOCK_REALTIME: FAKE_REALTIME_STEP_S seconds, FAKE_REALTIME_STEP_AT_MS after
 * the start. */
static uint64_t step_ns(uint64_t at_ns)
{
	static uint64_t start;
	const long step = knob("REALTIME_STEP_S", 0);

	if (!start)
		start = at_ns;
	if (!step || at_ns < start + (uint64_t)knob("REALTIME_STEP_AT_MS", 500) * NS_PER_MS)
		return 0;
	return (uint64_t)step * NS_PER_S;
}

/* Reads both clocks several times, and keeps the quickest attempt, which was not interrupted. */
static struct stamp_pair read_pair(uint64_t (*stamp)(void))
{
	struct stamp_pair best = {0};
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		const uint64_t before = now_ns(), then = stamp();
		const uint64_t width = now_ns() - before;

		if (width >= best_width)
			continue;
		best_width = width;
		best.ns = before + width / 2;
		best.stamp = then;
	}
	return best;
}

void stamp_source(uint64_t (*which)(void))
{
	const struct stamp_pair pair = which ? read_pair(which) : (struct stamp_pair){0};

	pthread_mutex_lock(&lock);
	source = which;
	source_ns[0] = pair.ns;
	source_ns[1] = pair.stamp;
	pthread_mutex_unlock(&lock);
}

uint64_t stamp_now(void)
{
	return source ? source() : realtime_ns() + step_ns(now_ns());
}

struct stamp_pair stamp_pair_now(void)
{
	struct stamp_pair pair = read_pair(source ? source : realtime_ns);

	pair.slope =
		source ? (double)(pair.stamp - source_ns[1]) / (double)(pair.ns - source_ns[0]) : 1;
	return pair;
}

uint64_t stamp_of(const struct stamp_pair *pair, uint64_t ns)
{
	const int64_t ago = (int64_t)(pair->ns - ns);

	if (!source)
		return pair->stamp - (uint64_t)ago + step_ns(ns);
	return pair->stamp - (uint64_t)(int64_t)((double)ago * pair->slope);
}

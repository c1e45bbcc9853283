/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/text.h"
#include "dlprof/units.h"

/* The counter's rate is first measured over this time: readings err by 50 ns, the rate by 0.1 %. */
#define FIRST_MEASURE_NS 50000
#define LAST_MEASURE_NS	 UINT64_C(20000000000)

/* Twice this duration in ticks, multiplied by clock_scale, still fits in 64 bits. */
#define LIMIT_MAX_NS (UINT64_C(1) << 31)

volatile uint64_t clock_scale HOT_DATA = 0;
volatile uint64_t clock_short_ticks HOT_DATA __attribute__((aligned(64))) = 0;
static uint64_t limit_ns;

static struct {
	uint64_t counter;
	uint64_t ns;
} first NEAR = {0};

static uint64_t measured_ns;

static bool kernel_trusts_counter(void)
{
	static const char *const clocks[] = {"tsc\n", "kvm-clock\n",
					     "hyperv_clocksource_tsc_page\n", "arch_sys_counter\n"};
	static const char path[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[64];

	if (text_read_file(path, name, sizeof(name)) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(clocks); i++)
		if (strcmp(name, clocks[i]) == 0)
			return true;
	return false;
}

static bool counter_is_steady(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	/* An invariant TSC has the same speed in every power state and on every core. */
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1 << 8))
		return false;
#endif
	return kernel_trusts_counter();
}

static void take_pair(uint64_t *counter, uint64_t *ns)
{
	uint64_t before, after, best = UINT64_MAX;

	/* The thread may lose its CPU between two readings, so take the closest of four pairs. */
	for (int i = 0; i < 4; i++) {
		uint64_t now;

		before = clock_counter();
		now = clock_now_ns();
		after = clock_counter();
		if (after - before >= best)
			continue;
		best = after - before;
		*counter = before + best / 2;
		*ns = now;
	}
}

void clock_mark(void)
{
	take_pair(&first.counter, &first.ns);
}

void clock_limit(uint64_t ns)
{
	limit_ns = ns < LIMIT_MAX_NS ? ns : LIMIT_MAX_NS;
	clock_short_ticks = clock_scale ? (limit_ns << 32) / clock_scale : 0;
}

static void measure(void)
{
	uint64_t counter = 0, ns = 0;

	take_pair(&counter, &ns);
	if (ns <= first.ns || counter <= first.counter)
		return;
	measured_ns = ns - first.ns;
	clock_scale =
		(uint64_t)(((unsigned __int128)measured_ns << 32) / (counter - first.counter));
	clock_limit(limit_ns);
}

void clock_begin(void)
{
	if (clock_scale || !first.ns || !counter_is_steady())
		return;
	while (clock_now_ns() - first.ns < FIRST_MEASURE_NS)
		;
	measure();
}

void clock_refine(void)
{
	if (!clock_scale || measured_ns >= LAST_MEASURE_NS)
		return;
	if (clock_now_ns() - first.ns >= 2 * measured_ns)
		measure();
}

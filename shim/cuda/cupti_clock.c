/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cupti_clock.h"

#include "base/clock.h"
#include "base/note.h"
#include "base/sys.h"
#include "cuda/clock_map.h"
#include "cuda/cupti.h"

/* both clocks are read this many times; the pair that was read the quickest counts */
#define BRACKETS     30
#define BRACKETS_FEW 3

static struct clock_map map;

static bool read_clocks(int tries, uint64_t *ret_mono_ns, uint64_t *ret_cupti_ns)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < tries; i++) {
		uint64_t begin_ns = clock_now_ns(), middle_ns = 0, end_ns;

		if (cupti.GetTimestamp(&middle_ns) != 0)
			return false;
		end_ns = clock_now_ns();
		if (end_ns - begin_ns >= best_ns)
			continue;
		best_ns = end_ns - begin_ns;
		*ret_mono_ns = begin_ns + best_ns / 2;
		*ret_cupti_ns = middle_ns;
	}
	return true;
}

static bool look_once(void)
{
	uint64_t mono_ns = 0, cupti_ns = 0;

	return read_clocks(BRACKETS, &mono_ns, &cupti_ns) && clock_map_add(&map, mono_ns, cupti_ns);
}

void cupti_clock_look(bool anew)
{
	double rate;

	if (anew)
		clock_map_break(&map);
	if (!look_once())
		return;
	/* After a change of CUPTI's clock, a second reading shows how fast the clock runs. */
	sys_nap(20000000);
	look_once();
	rate = clock_map_rate(&map);
	if (rate > 1.001 || rate < 0.999)
		note_once('i', "another user of CUPTI changed its clock: the times of the GPU are "
			       "as good as that one");
}

void cupti_clock_check(void)
{
	uint64_t mono_ns = 0, cupti_ns = 0;

	if (read_clocks(BRACKETS_FEW, &mono_ns, &cupti_ns) &&
	    !clock_map_fits(&map, mono_ns, cupti_ns))
		cupti_clock_look(false);
}

bool cupti_clock_convert(uint64_t *begin, uint64_t *end)
{
	uint64_t begin_ns, end_ns;

	if (!*begin || !*end || *end < *begin || !clock_map_convert(&map, *begin, &begin_ns) ||
	    !clock_map_convert(&map, *end, &end_ns) || end_ns < begin_ns)
		return false;
	*begin = begin_ns;
	*end = end_ns;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/account/load.h"

#include <math.h>

#define MOST 0.5 /* from this share on, reading is most of a load, or storage most of the bytes */

struct load_split load_split(const struct load_times *times)
{
	struct load_split split = {NAN, NAN};
	double io_ns = fmax(times->open_ns, 0) + fmax(times->read_ns, 0);
	double blocked_ns = fmin(fmax(times->blocked_ns, 0), fmax(times->other_ns, 0));
	double inside_ns, idle_ns;

	if (isnan(times->load_ns) || isnan(times->cpu_ns) || isnan(times->other_ns))
		return split;
	idle_ns = times->load_ns - times->cpu_ns - io_ns - blocked_ns;
	inside_ns = fmax(times->decode_ns, 0) + fmax(times->collate_ns, 0) + times->other_ns -
		    blocked_ns;
	split.blocked_ns = blocked_ns;
	if (idle_ns > 0 && inside_ns > 0)
		split.blocked_ns += fmin(idle_ns / inside_ns, 1) * (times->other_ns - blocked_ns);
	split.cpu_ns = times->other_ns - split.blocked_ns;
	return split;
}

static double share_of(double ns, const struct load_times *times)
{
	return times->load_ns > 0 && ns > 0 ? fmin(ns / times->load_ns, 1) : 0;
}

double load_decode_share(const struct load_times *times)
{
	return share_of(times->decode_ns, times);
}

double load_read_share(const struct load_times *times)
{
	return share_of(fmax(times->open_ns, 0) + fmax(times->read_ns, 0), times);
}

void load_take_waits(struct load_times *times, double share)
{
	const double ns = fmin(share * times->load_ns, fmax(times->decode_ns, 0));

	times->decode_ns -= ns;
	times->other_ns += ns;
	times->blocked_ns += ns;
}

bool load_reads_small(const struct load_times *times)
{
	return times->read_count >= LOAD_SMALL_READS * times->samples &&
	       times->read_bytes <= LOAD_SMALL_BYTES * times->read_count;
}

bool load_opens_most(const struct load_times *times)
{
	return times->open_ns > fmax(times->read_ns, 0);
}

bool load_reads_devices(const struct load_times *times)
{
	return load_read_share(times) >= MOST && times->storage_bytes >= MOST * times->read_bytes;
}

bool load_reads_nothing(const struct load_times *times)
{
	return times->read_count == 0 && !(times->open_ns > 0) && !(times->storage_bytes > 0);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/mix.h"

#include <math.h>

static double share_of(double ns, const struct load_mix *mix)
{
	return mix->load_ns > 0 && ns > 0 ? fmin(ns / mix->load_ns, 1) : 0;
}

double mix_decode_share(const struct load_mix *mix)
{
	return share_of(mix->decode_ns, mix);
}

double mix_read_share(const struct load_mix *mix)
{
	return share_of(fmax(mix->open_ns, 0) + fmax(mix->read_ns, 0), mix);
}

bool mix_reads_small(const struct load_mix *mix)
{
	return mix->read_count >= MIX_SMALL_READS * mix->samples &&
	       mix->read_bytes <= MIX_SMALL_BYTES * mix->read_count;
}

bool mix_reads_nothing(const struct load_mix *mix)
{
	return mix->read_count == 0 && !(mix->open_ns > 0) && !(mix->storage_bytes > 0);
}

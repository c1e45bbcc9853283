/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h - where loading is what is short: which part of a load to begin with. */
#ifndef MIX_H
#define MIX_H

#include "analysis/cause.h"

/* Sums over the same loads; NAN: not observed. */
struct load_mix {
	double load_ns, decode_ns, open_ns, read_ns;
	double read_count, read_bytes, samples;
};

#define MIX_LEAST       0.4     /* of a load's time: what has less is not what to begin with */
#define MIX_SMALL_BYTES 16384.0 /* a read; below it the call costs what the bytes do */
#define MIX_SMALL_READS 8.0     /* a sample */

/*
 * Adds to the steps of a judged run, behind the cause's own remedy, decode_bound, storage_bound or
 * small_reads, where that part is MIX_LEAST of the loads or more and the run without it, replayed,
 * gains ADVICE_GAIN. The gain is a bound: that part taken away whole. 0 or -ENOMEM.
 */
int mix_refine(const struct batch_series *series, const struct finding *finding,
	       const struct load_mix *mix, struct diagnosis *diagnosis);

#endif

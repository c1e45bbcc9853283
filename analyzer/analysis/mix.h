/* SPDX-License-Identifier: Apache-2.0 */
/* mix.h - what the time of the loads went to: which part of a load to begin with. */
#ifndef MIX_H
#define MIX_H

#include <stdbool.h>

/* Sums over the same loads; NAN: not observed. */
struct load_mix {
	double load_ns, decode_ns, open_ns, read_ns;
	double read_count, read_bytes, samples;
	double storage_bytes; /* that a device was asked for, mapped files included */
};

#define MIX_LEAST       0.4     /* of a load's time: what has less is not what to begin with */
#define MIX_SMALL_BYTES 16384.0 /* a read; below it the call costs what the bytes do */
#define MIX_SMALL_READS 8.0     /* a sample */

/* Shares of the loads' time: 0 where it is not known, or none. */
double mix_decode_share(const struct load_mix *mix);
double mix_read_share(const struct load_mix *mix); /* with opening */

/* Most of a load's reads are small, and many. */
bool mix_reads_small(const struct load_mix *mix);

/* Whether loads are known not to have touched any file. */
bool mix_reads_nothing(const struct load_mix *mix);

#endif

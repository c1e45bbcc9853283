/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rhythm.h - where the steps of a training begin, from what its GPU did and nothing else.
 *
 * For runs without a loader that is known and without marks. A step is what repeats: the operations
 * are cut at the occurrences of one of them, the anchor, and it is asked how alike the pieces are.
 * It refuses rather than invents: what does not repeat has no steps, however regular its kernels.
 *
 * - Signature of an operation: its kind, name or graph, and stream; of a copy its direction,
 * whether it is large, and its stream; of a synchronisation its type.
 * - Of the pieces that an anchor makes, a signature is constant if it occurs equally often, once at
 *   least, in most pieces; a piece is typical if nearly all constant signatures occur in it as
 * often as in most. Signatures that are in nearly every piece explain their kernels and graphs.
 * - Confidence = share of typical pieces x what is explained: the share of kernels and graphs, or,
 *   where that is a third at least, how little their number varies (kernels of another name for
 *   another shape). No signal is believed alone: there have to be constant signatures of another
 *   sort than the anchor (input, compute, reading back), or three of the same.
 * - An optimizer's kernels end a step, so they are preferred; with gradient accumulation that is
 * the outer of two rhythms. Else the shortest period wins of those that are hardly in doubt.
 */
#ifndef RHYTHM_H
#define RHYTHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RHYTHM_FEWEST_STEPS 8   /* less are no rhythm */
#define RHYTHM_CONFIDENT    0.7 /* below it there are no steps */

enum rhythm_kind {
	RHYTHM_KERNEL,
	RHYTHM_H2D,
	RHYTHM_D2H,
	RHYTHM_MEMSET,
	RHYTHM_GRAPH,
	RHYTHM_SYNC, /* the host's; STREAM_WAIT_EVENT is none */
	RHYTHM_KIND_MAX
};

struct rhythm_op {
	int64_t begin_ns, end_ns;
	uint64_t id; /* kernel: hash of its name; graph: its id; sync: its type; else 0 */
	uint64_t bytes;
	uint32_t stream;   /* tells the streams of all devices apart */
	uint8_t kind;      /* enum rhythm_kind */
	bool is_optimizer; /* rhythm_is_optimizer() of a kernel's name */
};

struct rhythm {
	double confidence; /* 0-1; the rest is void below RHYTHM_CONFIDENT */
	size_t step_count; /* found in the operations given */
	double period_ns;  /* median step; NAN: none */
	int inner_count; /* rhythms within each step: batches of an accumulated gradient; 1 or more
			  */
	uint64_t anchor; /* the signature that a step begins with */
	bool by_optimizer; /* only its first occurrence after an optimizer's kernel does */
	bool armed;        /* there was one since: the state of rhythm_is_step() */
};

/*
 * Looks for the steps; operations may be in any order. O(n log n), O(n) if they are sorted by
 * begin_ns. 0, also where there are none (confidence), or -ENOMEM, or -EINVAL: too many operations.
 */
int rhythm_find(const struct rhythm_op *ops, size_t count, struct rhythm *ret);

/*
 * Whether a step begins with this operation. To be called with all of them, in order of begin_ns:
 * with those that follow the ones rhythm_find() was given, or, with `armed` cleared, from the
 * start.
 */
bool rhythm_is_step(struct rhythm *rhythm, const struct rhythm_op *op);

/* Whether a kernel of this name is of an optimizer's step, as far as names tell. */
bool rhythm_is_optimizer(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * booking.h - to which part of its thread's time a sample belongs.
 *
 * A sample is taken before anybody knows what its thread is doing: a load or a wait is recorded
 * when it ends. So samples wait here, in the order of time, until a span of their thread claims
 * them. A load claims before the wait that it lies in, and a wait before the step around it, since
 * their records come in that order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/cause/lines.h"
#include "drain/lines/seen_stacks.h"

struct booking;

int booking_open(struct booking **ret);
void booking_close(struct booking *booking);

struct booking_sample {
	uint64_t when_ns;
	int32_t pid;
	uint32_t tid;
	enum line_role role;
	uint32_t stack;  /* of seen_stacks.h */
	uint32_t holder; /* ... of the other thread that held the interpreter then; SEEN_NONE: none
			  */
	uint32_t weight_ns;
};

void booking_add(struct booking *booking, const struct booking_sample *sample);

/* What a claim takes over: samples that nobody claimed, or those that were claimed as that. */
enum booking_from { BOOKING_FREE, BOOKING_LOADS, BOOKING_WAITS };

struct booking_span {
	int32_t pid;
	uint32_t tid;
	uint64_t begin_ns, end_ns;
	enum booking_from from;
	enum line_phase phase;
	int64_t loader_id; /* 0: it is not known yet, and the claim is for now: LOAD or NOT_READY */
};

/* Claims the samples of the thread in [begin_ns, end_ns). */
void booking_claim(struct booking *booking, const struct booking_span *span);

/* What nobody claimed of a worker's thread in [begin_ns, end_ns) it did between two loads. */
void booking_drop(struct booking *booking, int32_t pid, uint32_t tid, uint64_t begin_ns,
		  uint64_t end_ns);

/* So many samples of loads, and of other parts, were claimed for good since it was opened. */
uint64_t booking_count(const struct booking *booking, bool of_loads);

/* Nobody will claim what is older than this: it counts as what it was claimed for, else as other.
 */
void booking_expire(struct booking *booking, uint64_t before_ns);

/*
 * Adds what was claimed for good to the database. When that is committed, booking_written() takes
 * it off; otherwise it is written again. 0 or -errno.
 */
int booking_write(struct booking *booking, struct seen_stacks *seen, struct writer *writer);
void booking_written(struct booking *booking);

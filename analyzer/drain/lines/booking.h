/* SPDX-License-Identifier: Apache-2.0 */
/*
 * booking.h - finds out to which load, wait or step of its thread a stack sample belongs.
 *
 * A load or wait is recorded only when it ends. So samples wait here until a span of their thread
 * takes them. Inner spans go first: a load before the wait around it, a wait before the step around
 * it.
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
	uint32_t stack;  /* the stack's number in seen_stacks.h */
	uint32_t holder; /* stack of the thread that held the GIL; SEEN_NONE: no other thread */
	bool has_gil;    /* the sampled thread itself held the GIL */
	bool awaits_gil; /* the sampled thread waited for the GIL; false also if that is unknown */
	uint32_t weight_ns;
};

void booking_add(struct booking *booking, const struct booking_sample *sample);

/*
 * Which samples a span takes. BOOKING_FREE: those that no span has taken. BOOKING_LOADS, _WAITS:
 * those that a load, or a wait, took for the time being, as its loader was not known then.
 */
enum booking_from { BOOKING_FREE, BOOKING_LOADS, BOOKING_WAITS };

struct booking_span {
	int32_t pid;
	uint32_t tid;
	uint64_t begin_ns, end_ns;
	enum booking_from from;
	enum line_phase phase;
	int64_t loader_id; /* 0: the loader is not known yet, and samples are taken for now */
};

void booking_claim(struct booking *booking, const struct booking_span *span);

/* Drops samples in [begin_ns, end_ns) that no span took: the worker was between two loads. */
void booking_drop(struct booking *booking, int32_t pid, uint32_t tid, uint64_t begin_ns,
		  uint64_t end_ns);

/* Returns how many samples are booked to loads or, if not `of_loads`, to anything else. */
uint64_t booking_count(const struct booking *booking, bool of_loads);

/* Books samples from before `before_ns` for good: to the span that took them, or as LINE_OTHER. */
void booking_expire(struct booking *booking, uint64_t before_ns);

/* Call booking_written() after the commit. Without it, booking_write() writes the samples again. */
int booking_write(struct booking *booking, struct seen_stacks *seen, struct writer *writer);
void booking_written(struct booking *booking);

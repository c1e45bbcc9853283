/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/lines/booking.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/statistics/array.h"

#define MOST_SAMPLES 8192 /* samples that may wait for a span: 40 a second for three minutes */
#define MOST_SUMS    4096

struct waiting {
	struct booking_sample sample;
	bool is_done;
	bool is_claimed; /* a span has taken the sample for now; its loader is not known yet */
	enum line_phase phase;
};

struct total {
	enum line_role role;
	enum line_phase phase;
	int64_t loader_id;
	uint32_t stack;
	int64_t count, ns;
};

struct booking {
	struct waiting samples[MOST_SAMPLES]; /* ring of waiting samples, oldest at `first` */
	size_t first, count;
	struct total sums[MOST_SUMS];
	size_t sum_count;
	uint64_t load_count, other_count;
};

int booking_open(struct booking **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void booking_close(struct booking *booking)
{
	free(booking);
}

static struct waiting *at(struct booking *booking, size_t i)
{
	return &booking->samples[(booking->first + i) % MOST_SAMPLES];
}

static void add(struct booking *booking, enum line_role role, enum line_phase phase,
		int64_t loader_id, uint32_t stack, uint32_t weight_ns)
{
	struct total *total = booking->sums, *end = total + booking->sum_count;

	while (total < end && (total->stack != stack || total->phase != phase ||
			       total->role != role || total->loader_id != loader_id))
		total++;
	if (total == end && booking->sum_count == MOST_SUMS)
		return;
	if (total == end) {
		*total = (struct total){role, phase, loader_id, stack, 0, 0};
		booking->sum_count++;
	}
	total->count++;
	total->ns += weight_ns;
}

static void finish(struct booking *booking, struct waiting *waiting, enum line_phase phase,
		   int64_t loader_id)
{
	const struct booking_sample *sample = &waiting->sample;
	const bool is_awaited = sample->awaits_gil && lines_is_step(phase);

	add(booking, sample->role, phase, loader_id, sample->stack, sample->weight_ns);
	if (sample->holder != SEEN_NONE)
		add(booking, is_awaited ? LINE_ROLE_HOLDER : LINE_ROLE_THREAD, phase, loader_id,
		    sample->holder, sample->weight_ns);
	if (sample->has_gil && sample->role == LINE_ROLE_MAIN && lines_is_step(phase))
		add(booking, LINE_ROLE_PYTHON, phase, loader_id, sample->stack, sample->weight_ns);
	if (phase == LINE_LOAD)
		booking->load_count++;
	else
		booking->other_count++;
	waiting->is_done = true;
}

static void shift(struct booking *booking)
{
	while (booking->count && at(booking, 0)->is_done) {
		booking->first = (booking->first + 1) % MOST_SAMPLES;
		booking->count--;
	}
}

static void finish_as_it_is(struct booking *booking, struct waiting *waiting)
{
	if (!waiting->is_done)
		finish(booking, waiting, waiting->is_claimed ? waiting->phase : LINE_OTHER, 0);
}

void booking_add(struct booking *booking, const struct booking_sample *sample)
{
	if (booking->count == MOST_SAMPLES) {
		finish_as_it_is(booking, at(booking, 0));
		shift(booking);
	}
	*at(booking, booking->count++) = (struct waiting){.sample = *sample};
}

static size_t find(struct booking *booking, uint64_t when_ns)
{
	return ARRAY_PLACE(booking->count, i, at(booking, i)->sample.when_ns < when_ns);
}

static bool is_wanted(const struct waiting *waiting, const struct booking_span *span)
{
	if (waiting->is_done || waiting->sample.pid != span->pid ||
	    waiting->sample.tid != span->tid)
		return false;
	if (span->from == BOOKING_FREE)
		return !waiting->is_claimed;
	return waiting->is_claimed &&
	       (waiting->phase == LINE_LOAD) == (span->from == BOOKING_LOADS);
}

void booking_claim(struct booking *booking, const struct booking_span *span)
{
	for (size_t i = find(booking, span->begin_ns); i < booking->count; i++) {
		struct waiting *waiting = at(booking, i);

		if (waiting->sample.when_ns >= span->end_ns)
			break;
		if (!is_wanted(waiting, span))
			continue;
		waiting->is_claimed = true;
		waiting->phase = span->phase;
		if (span->loader_id)
			finish(booking, waiting, span->phase, span->loader_id);
	}
	shift(booking);
}

void booking_drop(struct booking *booking, int32_t pid, uint32_t tid, uint64_t begin_ns,
		  uint64_t end_ns)
{
	for (size_t i = find(booking, begin_ns); i < booking->count; i++) {
		struct waiting *waiting = at(booking, i);

		if (waiting->sample.when_ns >= end_ns)
			break;
		if (waiting->sample.pid == pid && waiting->sample.tid == tid &&
		    !waiting->is_claimed)
			waiting->is_done = true;
	}
	shift(booking);
}

uint64_t booking_count(const struct booking *booking, bool of_loads)
{
	return of_loads ? booking->load_count : booking->other_count;
}

void booking_expire(struct booking *booking, uint64_t before_ns)
{
	while (booking->count && at(booking, 0)->sample.when_ns < before_ns) {
		finish_as_it_is(booking, at(booking, 0));
		shift(booking);
	}
}

int booking_write(struct booking *booking, struct seen_stacks *seen, struct writer *writer)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < booking->sum_count; i++) {
		const struct total *total = &booking->sums[i];
		struct samples_row row = {
			.role = line_role_names[total->role],
			.loader_id = total->loader_id,
			.phase = line_phase_names[total->phase],
			.count = total->count,
			.ns = total->ns,
		};

		r = seen_text(seen, total->stack, writer, &row.frames);
		if (r == 0)
			r = writer_samples(writer, &row);
	}
	return r;
}

void booking_written(struct booking *booking)
{
	booking->sum_count = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - which process is looked at next, and when: the lines of code of a run.
 *
 * The thread that takes the batches is looked at 20 times a second, and of the workers together as
 * often one, which is chosen at random. When 1,000 samples of the training's thread are booked,
 * which knows a share to 3 points, or 1,000 of loads, that side is looked at once a second. Looks
 * may cost 0.3 % of a core, and come less often where they cost more; with wake-ups and rows it was
 * 0.5 % with 8 workers and with 64. Intervals are random between half and one and a half of what
 * they should be, so that no training runs in step with them.
 *
 * DLPROF_LINES=off: nothing is looked at.
 */
#pragma once

#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct sampler;
struct stream;
struct entry;

/* Where there is no memory for it, *ret is NULL, and all functions take that. */
void sampler_open(struct sampler **ret);
void sampler_close(struct sampler *sampler);

/* These are the run's processes from now on. */
void sampler_follow(struct sampler *sampler, struct segment *const *segments, size_t count);

/* Milliseconds until the next look, at most `most_ms`. */
int sampler_wait_ms(const struct sampler *sampler, int most_ms);

/* Looks, if it is time. */
void sampler_look(struct sampler *sampler);

/* What a record tells, in the order in which records are read. */
void sampler_take(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event);

/* An iterator was made by its loader, whose number is known now; or an epoch ended. */
void sampler_epoch(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		   const struct dlprof_event *event, int64_t loader_id);

/* The parts of a step are told, of which one may be saving. */
void sampler_save(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event, int64_t loader_id);

/* All is known of a batch. */
void sampler_settle(struct sampler *sampler, const struct stream *stream,
		    const struct entry *entry);

/* Writes what is known; `is_last`: nothing more will be. 0 or -errno. */
int sampler_write(struct sampler *sampler, struct writer *writer, bool is_last);

/* It is committed; or the database is not what it was, and what was not committed comes again. */
void sampler_written(struct sampler *sampler);
void sampler_rewind(struct sampler *sampler);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - when to look at which process, for the lines of code of a run.
 *
 * The thread that takes the batches is looked at 20 times a second, and the workers as often
 * together, one of them at random. After 1,000 samples of the training's thread, which know a share
 * to 3 points, or 1,000 of loads, that side is looked at once a second. Looks may cost 0.3 % of a
 * core, and come less often where they cost more; with wake-ups and rows it was 0.5 % with 8
 * workers and with 64. Intervals are random, from half to one and a half of their length, so that
 * no training runs in step with them.
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

/* Opens a sampler; without memory *ret is NULL, which all functions accept. */
void sampler_open(struct sampler **ret);
void sampler_close(struct sampler *sampler);

/* Tells which processes the run has from now on. */
void sampler_follow(struct sampler *sampler, struct segment *const *segments, size_t count);

/* Milliseconds until the next look, at most `most_ms`. */
int sampler_wait_ms(const struct sampler *sampler, int most_ms);

/* Looks, if it is time. */
void sampler_look(struct sampler *sampler);

/* Takes what a record tells; records come in the order in which they are read. */
void sampler_take(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event);

/* Tells that an iterator was made, now that its loader's number is known; or an epoch's end. */
void sampler_epoch(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		   const struct dlprof_event *event, int64_t loader_id);

/* Takes the parts of a step, one of which may be saving. */
void sampler_save(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event, int64_t loader_id);

/* Claims the samples of a batch of which all is known. */
void sampler_settle(struct sampler *sampler, const struct stream *stream,
		    const struct entry *entry);

/* Writes the samples that were claimed; `is_last`: no more will come. 0 or -errno. */
int sampler_write(struct sampler *sampler, struct writer *writer, bool is_last);

/* Told when that is committed; or when the database is another one, so that it is written again. */
void sampler_written(struct sampler *sampler);
void sampler_rewind(struct sampler *sampler);

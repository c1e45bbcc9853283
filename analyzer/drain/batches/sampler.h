/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - decides which process's Python stack is sampled, and when, to find the lines of a
 * run.
 *
 * The thread that takes batches is sampled 20 times a second. One worker, chosen at random, is also
 * sampled 20 times a second. After 1,000 samples of the training thread, which give shares to 3
 * percentage points, it is sampled once a second; so are the workers after 1,000 samples of loads.
 * Sampling may use 0.3 % of a core, and becomes rarer if it would need more; with wake-ups and rows
 * it was 0.5 %, with 8 workers as with 64. Intervals are random, from half to one and a half of
 * their mean, so that no training runs in step with them.
 *
 * With DLPROF_LINES=off nothing is sampled.
 */
#pragma once

#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct sampler;
struct stream;
struct entry;

/* Opens a sampler. Without memory, or if off, *ret is NULL, which all functions accept. */
void sampler_open(struct sampler **ret);
void sampler_close(struct sampler *sampler);

/* Sets the current segments of the run's processes. */
void sampler_follow(struct sampler *sampler, struct segment *const *segments, size_t count);

/* Returns the milliseconds until the next sample, at most `most_ms`. */
int sampler_wait_ms(const struct sampler *sampler, int most_ms);

/* Takes the samples that are due. */
void sampler_look(struct sampler *sampler);

/* Takes a record, which tells what its thread did. Called in the order in which they are read. */
void sampler_take(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event);

/* Takes the EPOCH of a new iterator, once the loader's number is known, or the end of an epoch. */
void sampler_epoch(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		   const struct dlprof_event *event, int64_t loader_id);

/* Takes a PARTS record, for the time of saving. */
void sampler_save(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event, int64_t loader_id);

/* Claims the samples in a batch's load, wait and step, whose times are all known now. */
void sampler_settle(struct sampler *sampler, const struct stream *stream,
		    const struct entry *entry);

/* Writes the claimed samples; `is_last`: no more will come. Returns 0 or -errno. */
int sampler_write(struct sampler *sampler, struct writer *writer, bool is_last);

/* Called after a commit of written samples. sampler_rewind(): all must be written again. */
void sampler_written(struct sampler *sampler);
void sampler_rewind(struct sampler *sampler);

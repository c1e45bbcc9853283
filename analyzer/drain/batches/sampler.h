/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - decides when to sample the Python stack of which process, for the lines of a run.
 *
 * The thread that takes the batches is sampled 20 times a second, and the workers 20 times a second
 * together, one of them at random. After 1,000 samples of the training's thread, which give a share
 * to 3 percentage points, that thread is sampled once a second; so are workers after 1,000 samples
 * of loads. Sampling may use 0.3 % of a core, and gets rarer where it would use more; with wake-ups
 * and rows it was 0.5 % with 8 workers and with 64. Intervals are random, from half to one and a
 * half of their length, so that no training runs in step with them.
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

/* Sets the segments of the run's processes, as of now. */
void sampler_follow(struct sampler *sampler, struct segment *const *segments, size_t count);

/* Returns the milliseconds until the next sample, at most `most_ms`. */
int sampler_wait_ms(const struct sampler *sampler, int most_ms);

/* Takes the samples that are due. */
void sampler_look(struct sampler *sampler);

/* Takes a record, for what its thread did; records come in the order in which they are read. */
void sampler_take(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event);

/* Takes the record of a new iterator, once its loader's number is known, or of an epoch's end. */
void sampler_epoch(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		   const struct dlprof_event *event, int64_t loader_id);

/* Takes the record of a step's parts, for the time of saving. */
void sampler_save(struct sampler *sampler, const struct segment *segment, const struct ring *ring,
		  const struct dlprof_event *event, int64_t loader_id);

/* Claims the samples of a batch's load, wait and step, which are all known. */
void sampler_settle(struct sampler *sampler, const struct stream *stream,
		    const struct entry *entry);

/* Writes the claimed samples; `is_last`: no more will come. Returns 0 or -errno. */
int sampler_write(struct sampler *sampler, struct writer *writer, bool is_last);

/* Called when written samples are committed; sampler_rewind(): when all are written again. */
void sampler_written(struct sampler *sampler);
void sampler_rewind(struct sampler *sampler);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - decides which process's Python stack is sampled, and when.
 *
 * The thread that takes batches and one random worker are sampled 20 times a second. After 1,000
 * samples, shares are known to 3 percentage points, and one sample a second is taken. Sampling may
 * use 0.3 % of a core. Intervals are random, so as not to be in step with the training's batches.
 * With DLPROF_LINES=off nothing is sampled.
 */
#pragma once

#include <stdint.h>

#include "drain/segments/segment.h"
#include "store/write/write.h"

struct sampler;
struct stream;
struct entry;

/* Opens a sampler. If sampling is off, *ret is NULL, which all functions below accept. */
void sampler_open(struct sampler **ret);
void sampler_close(struct sampler *sampler);

void sampler_follow(struct sampler *sampler, struct segment *const *segments, size_t count);

int sampler_wait_ms(const struct sampler *sampler, int most_ms);

void sampler_look(struct sampler *sampler);

/* Takes a record. Call this for all records, in the order in which they are read. */
void sampler_take(struct sampler *sampler, const struct record *record);

/* Takes the record of a new iterator, once its loader_id is known, or of the end of an epoch. */
void sampler_epoch(struct sampler *sampler, const struct record *record, int64_t loader_id);

void sampler_save(struct sampler *sampler, const struct record *record, int64_t loader_id);

void sampler_settle(struct sampler *sampler, const struct stream *stream,
		    const struct entry *entry);

/* Writes what was sampled. `is_last`: no more samples will come. */
int sampler_write(struct sampler *sampler, struct writer *writer, bool is_last);

/* Call this after a commit. After a rollback, sampler_rewind() lets all rows be written again. */
void sampler_written(struct sampler *sampler);
void sampler_rewind(struct sampler *sampler);

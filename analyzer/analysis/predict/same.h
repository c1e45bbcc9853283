/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.h - says whether a training gets the same samples with another setting of its loader.
 *
 * Measured with PyTorch 1.13 and 2.15 (tests/e2e/set_samples.py): another number of workers gives
 * the dataset other random seeds. If workers, or persistent workers, are turned on or off, the
 * training itself gets other random numbers. Samplers without a generator shuffle by those.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/set.h"

/* What stays the same, ordered from all to nothing. */
enum same {
	SAME_ALL,
	SAME_ORDER, /* same order, but other random numbers in the dataset */
	SAME_UNSHUFFLED, /* other random numbers, so another order if a sampler shuffles by them */
	SAME_NONE,
	SAME_MAX
};

enum same same_after(enum dlprof_set key, int64_t before, int64_t after, bool is_iterable);

/* Judges changes such as "train.py:16: workers 1 -> 4, in_order true -> false". */
enum same same_after_changes(const char *changes, bool is_iterable);

/* Words for people, and ids in JSON. */
extern const char *const same_words[SAME_MAX], *const same_ids[SAME_MAX];

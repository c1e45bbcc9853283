/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.h - how a changed setting of a PyTorch loader changes the samples of a shuffled training.
 *
 * Measured on PyTorch 1.13 and 2.15, which agree: two epochs of a seeded training, whose order and
 * random numbers were compared with those before the change (tests/e2e/set_samples.py does it).
 * Another number of workers draws other seeds for them; without workers, the seed of the workers is
 * not drawn, and with workers that persist, it is drawn at another place, which moves the sampler's
 * numbers. An iterable dataset deals its samples out to the workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/set.h"

/* How the samples change, from the least change to the greatest. */
enum same {
	SAME_ALL,
	SAME_ORDER, /* same order, but the dataset draws other random numbers */
	SAME_NONE,
	SAME_MAX
};

enum same same_after(enum dlprof_set key, int64_t before, int64_t after, bool is_iterable);

/*
 * Returns the greatest of several changes, as the library notes them: "workers 1 -> 4, in_order
 * true -> false", perhaps with "train.py:16: " before them.
 */
enum same same_after_changes(const char *changes, bool is_iterable);

/* Words for each enum same, for people and in JSON. */
extern const char *const same_words[SAME_MAX], *const same_ids[SAME_MAX];

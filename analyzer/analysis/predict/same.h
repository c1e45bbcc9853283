/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.h - says how changing a setting of a PyTorch loader changes the samples of a shuffled
 * training.
 *
 * This was measured with PyTorch 1.13 and 2.15, which agree: the order and the random numbers of
 * two epochs of a seeded training were compared before and after the change
 * (tests/e2e/set_samples.py). Another number of workers gives the workers other seeds. Without
 * workers their seed is not drawn, and with persistent workers it is drawn at another time; both
 * change the sampler's random numbers. An iterable dataset divides its samples between the workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dlprof/set.h"

/* How the samples change, from the smallest change to the largest. */
enum same {
	SAME_ALL,
	SAME_ORDER, /* same order, but the dataset draws other random numbers */
	SAME_NONE,
	SAME_MAX
};

enum same same_after(enum dlprof_set key, int64_t before, int64_t after, bool is_iterable);

/*
 * Returns the largest change of several settings. `changes` is text as the library notes it:
 * "workers 1 -> 4, in_order true -> false", possibly after "train.py:16: ".
 */
enum same same_after_changes(const char *changes, bool is_iterable);

/* Words for each enum same, for people and in JSON. */
extern const char *const same_words[SAME_MAX], *const same_ids[SAME_MAX];

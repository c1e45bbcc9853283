/* SPDX-License-Identifier: Apache-2.0 */
/*
 * around.h - finds what an iterator around the loader does with batches, in the training's thread.
 *
 * Such an iterator (PyTorch Geometric's, fastai's) takes a batch from the loader, works on it, and
 * only then hands it to the training. To dlprof this work is part of the step, since the loader has
 * returned; to the training it is waiting.
 */
#pragma once

#include "analysis/cause/lines.h"

/* Finds that work by the stack samples of the loader's steps; loader_id 0: of all loaders. */
void around_find(const struct line_samples *samples, int64_t loader_id, struct line_around *ret);

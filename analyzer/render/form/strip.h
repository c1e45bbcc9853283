/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strip.h - waits over time as a strip of cells: one cell a batch where they fit into a few lines,
 * else as many equal groups of batches as there are cells in a line.
 */
#pragma once

#include "analysis/account/series.h"
#include "render/form/page.h"

/* Is there anything to show? */
bool strip_is_known(const struct batch_series *series, const float *waits);

/*
 * At most so many cells, as they are, without a line's end. Of a run that is longer, and has a
 * period, one cell a batch where it waits most, else of groups.
 */
void strip_line(const struct page *page, const struct batch_series *series, const float *waits,
		size_t cells, size_t period);

/* `waits`: those that the verdict counts. Nothing is printed where no batch has its compute. */
void strip_print(const struct page *page, const struct batch_series *series, const float *waits);

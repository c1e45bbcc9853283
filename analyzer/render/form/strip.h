/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strip.h - draws waits over time as a strip of cells: one cell a batch if these fit into a few
 * lines, else one for each group of equally many batches.
 */
#pragma once

#include "analysis/account/series.h"
#include "render/form/page.h"

/* Returns true if the series has a batch to draw. */
bool strip_is_known(const struct batch_series *series, const float *waits);

/*
 * Prints one line of at most `cells` cells, without a newline. A longer run is drawn in groups, or,
 * if it has a period, batch by batch where it waits most.
 */
void strip_line(const struct page *page, const struct batch_series *series, const float *waits,
		size_t cells, size_t period);

/* Prints the strip. The verdict counts `waits`. Prints nothing if no compute is known. */
void strip_print(const struct page *page, const struct batch_series *series, const float *waits);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strip.h - draws waits over time as a strip of cells: one cell for each batch if these fit into a
 * few lines, else one for each of equally large groups of batches.
 */
#pragma once

#include "analysis/account/series.h"
#include "render/form/page.h"

/* Returns true if there is a batch to show. */
bool strip_is_known(const struct batch_series *series, const float *waits);

/*
 * Prints at most `cells` cells, without a line's end. A longer run is shown by groups or, if it has
 * a period, batch by batch where it waits most.
 */
void strip_line(const struct page *page, const struct batch_series *series, const float *waits,
		size_t cells, size_t period);

/* Prints the strip. `waits` are those that the verdict counts. Prints nothing without compute. */
void strip_print(const struct page *page, const struct batch_series *series, const float *waits);

/* SPDX-License-Identifier: Apache-2.0 */
/* strip.h - draws waits over time as a line of block characters: one for each group of batches. */
#pragma once

#include "analysis/account/series.h"
#include "render/form/page.h"

bool strip_is_known(const struct batch_series *series, const float *waits);

/*
 * Draws a cell for each batch. If more than `cells` are needed, a cell stands for a group of
 * batches; but with a period (not 0), only the batches around the longest waits are drawn.
 */
void strip_line(const struct page *page, const struct batch_series *series, const float *waits,
		size_t cells, size_t period);

void strip_print(const struct page *page, const struct batch_series *series, const float *waits);

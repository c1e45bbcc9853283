/* SPDX-License-Identifier: Apache-2.0 */
/* outline_text.h - an outline on a terminal: blocks one below the other, apart by blank lines. */
#pragma once

#include "render/form/outline.h"

void outline_text_head(const struct outline_block *block, const struct page *page);
void outline_text_verdict(const struct outline_block *block, const struct page *page);

/* Their texts begin at column `hang`. */
void outline_text_items(const struct outline_block *block, const struct page *page, int hang);

/* From block `first` on. */
void outline_text_blocks(const struct outline *outline, size_t first, const struct page *page);

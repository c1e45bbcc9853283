/* SPDX-License-Identifier: Apache-2.0 */
/* outline_text.h - an outline on a terminal: blocks with blank lines between them. */
#pragma once

#include "render/form/outline.h"

void outline_text_head(const struct outline_block *block, const struct page *page);
void outline_text_verdict(const struct outline_block *block, const struct page *page);

/* Prints items with texts from column `hang` on. */
void outline_text_items(const struct outline_block *block, const struct page *page, int hang);

/* Prints the blocks from `first` on. */
void outline_text_blocks(const struct outline *outline, size_t first, const struct page *page);

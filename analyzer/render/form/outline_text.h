/* SPDX-License-Identifier: Apache-2.0 */
/* outline_text.h - prints an outline on a terminal, with blank lines between its blocks. */
#pragma once

#include "render/form/outline.h"

void outline_text_head(const struct outline_block *block, const struct page *page);
void outline_text_verdict(const struct outline_block *block, const struct page *page);

/* Prints items, whose texts begin at column `hang`. */
void outline_text_items(const struct outline_block *block, const struct page *page, int hang);

/* Prints the blocks from index `first` on. */
void outline_text_blocks(const struct outline *outline, size_t first, const struct page *page);

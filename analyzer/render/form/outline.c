/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/outline.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "render/form/units.h"

static void *grow(struct outline *outline, void **array, size_t *count, size_t size)
{
	char *items = array_grown(*array, *count, size);

	if (!items) {
		outline->failed = true;
		return NULL;
	}
	*array = items;
	return memset(items + size * (*count)++, 0, size);
}

static struct outline_block *open_block(const struct outline *outline)
{
	return outline->failed || !outline->count ? NULL : &outline->blocks[outline->count - 1];
}

/* Returns the last row of the last block; NULL: there is none, or memory ran out. */
static struct outline_row *open_row(const struct outline *outline)
{
	const struct outline_block *block = open_block(outline);

	return block && block->count ? &block->rows[block->count - 1] : NULL;
}

void outline_headed(struct outline *outline, const char *chapter, const char *const *headings)
{
	struct outline_block *block;

	if (outline->failed)
		return;
	block = grow(outline, (void **)&outline->blocks, &outline->count, sizeof(*block));
	if (!block)
		return;
	block->chapter = chapter;
	for (size_t i = 0; headings && headings[i] && i < OUTLINE_CELLS; i++)
		block->headings[i] = headings[i];
}

static char *format_text(struct outline *outline, const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0) {
		outline->failed = true;
		return NULL;
	}
	return text;
}

void outline_title(struct outline *outline, const char *format, ...)
{
	struct outline_block *block = open_block(outline);
	va_list args;

	if (!block)
		return;
	va_start(args, format);
	block->title = format_text(outline, format, args);
	va_end(args);
}

void outline_strip(struct outline *outline, const struct batch_series *series, const float *waits)
{
	struct outline_block *block = open_block(outline);

	if (!block)
		return;
	block->series = series;
	block->waits = waits;
}

void outline_row(struct outline *outline, enum page_color tone)
{
	struct outline_block *block = open_block(outline);
	struct outline_row *row;

	if (!block)
		return;
	row = grow(outline, (void **)&block->rows, &block->count, sizeof(*row));
	if (!row)
		return;
	row->tone = tone;
	row->share = NAN;
}

void outline_sign(struct outline *outline, const char *sign)
{
	struct outline_row *row = open_row(outline);

	if (!row)
		return;
	row->sign = sign;
	row->signed_cell = row->count;
}

void outline_share(struct outline *outline, double share, int part)
{
	struct outline_row *row = open_row(outline);

	if (!row)
		return;
	row->share = share;
	row->part = part;
}

void outline_cell(struct outline *outline, const char *format, ...)
{
	struct outline_row *row = open_row(outline);
	va_list args;

	if (!row || row->count == OUTLINE_CELLS)
		return;
	va_start(args, format);
	row->cells[row->count++] = format_text(outline, format, args);
	va_end(args);
}

void outline_texts(struct outline *outline, const char *const *texts)
{
	for (; *texts; texts++)
		outline_cell(outline, "%s", *texts);
}

void outline_time(struct outline *outline, const char *label, double ns, double whole_ns)
{
	outline_cells(outline, label, isnan(ns) ? "not observed" : UNITS_TIME(ns),
		      isnan(ns) || isnan(whole_ns) ? "" : UNITS_SHARE(ns / whole_ns));
}

const struct outline_block *outline_find(const struct outline *outline, const char *chapter)
{
	static const struct outline_block none;

	for (size_t i = 0; i < outline->count; i++)
		if (outline->blocks[i].count && strcmp(outline->blocks[i].chapter, chapter) == 0)
			return &outline->blocks[i];
	return &none;
}

void outline_done(struct outline *outline)
{
	for (size_t i = 0; i < outline->count; i++) {
		struct outline_block *block = &outline->blocks[i];

		for (size_t row = 0; row < block->count; row++)
			for (size_t cell = 0; cell < block->rows[row].count; cell++)
				free(block->rows[row].cells[cell]);
		free(block->rows);
		free(block->title);
	}
	free(outline->blocks);
	*outline = (struct outline){0};
}

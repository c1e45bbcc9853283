/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/strip.h"

#include <math.h>

#include "analysis/account/stall.h"
#include "render/form/units.h"

#define INDENT     2
#define MOST_LINES 4 /* most lines with a cell for each batch; longer runs get one line of groups */

static const struct level {
	double below;
	const char *cell;
	const char *ascii;
	const char *text;
	enum page_color color;
} LEVELS[] = {
	{STALL_MODERATE, "▁", ".", "under 5 %", PAGE_DIM},
	{STALL_HIGH, "▃", "-", "5-20 %", PAGE_YELLOW},
	{0.5, "▅", "+", "20-50 %", PAGE_RED},
	{INFINITY, "█", "#", "over 50 % of the time is waiting", PAGE_RED},
};

static const struct level *find_level(double share)
{
	size_t i = 0;

	while (i + 1 < ARRAY_COUNT(LEVELS) && share >= LEVELS[i].below)
		i++;
	return &LEVELS[i];
}

/* Returns the level of the stall ratio of these batches; NULL: no batch has known times. */
static const struct level *judge(const struct batch_series *series, const float *waits,
				 size_t begin, size_t end)
{
	double wait_ns = 0, time_ns = 0;

	for (size_t i = begin; i < end; i++) {
		if (!(waits[i] >= 0 && series->wait_ns[i] >= 0 && series->compute_ns[i] >= 0))
			continue;
		wait_ns += (double)waits[i];
		time_ns += (double)series->wait_ns[i] + (double)series->compute_ns[i];
	}
	return time_ns > 0 ? find_level(wait_ns / time_ns) : NULL;
}

static size_t edge(size_t count, size_t cells, size_t cell)
{
	return (size_t)((double)count * (double)cell / (double)cells);
}

static void put_cells(const struct page *page, const struct batch_series *series,
		      const float *waits, size_t begin, size_t end, size_t cells)
{
	const struct level *level, *last = NULL;

	for (size_t i = 0; i < cells; i++) {
		level = judge(series, waits, begin + edge(end - begin, cells, i),
			      begin + edge(end - begin, cells, i + 1));
		if (level && (!last || last->color != level->color)) {
			page_color(page, PAGE_PLAIN);
			page_color(page, level->color);
			last = level;
		}
		fputs(!level ? " " : page->ascii ? level->ascii : level->cell, page->out);
	}
	page_color(page, PAGE_PLAIN);
}

static void put_line(const struct page *page, const struct batch_series *series, const float *waits,
		     size_t begin, size_t end, size_t cells)
{
	fprintf(page->out, "%*s|", INDENT, "");
	put_cells(page, series, waits, begin, end, cells);
	fputs("|\n", page->out);
}

bool strip_is_known(const struct batch_series *series, const float *waits)
{
	return series->count && waits && series->wait_ns && series->compute_ns;
}

/* Returns the first of those `count` consecutive batches that have the most waiting. */
static size_t busiest(const struct batch_series *series, const float *waits, size_t count)
{
	double sum = 0, most = -1;
	size_t best = 0, i;

	for (i = 0; i < series->count; i++) {
		sum += waits[i] >= 0 ? (double)waits[i] : 0;
		if (i >= count)
			sum -= waits[i - count] >= 0 ? (double)waits[i - count] : 0;
		if (i + 1 >= count && sum > most * (1 + 1e-9)) {
			most = sum;
			best = i + 1 - count;
		}
	}
	return best;
}

void strip_line(const struct page *page, const struct batch_series *series, const float *waits,
		size_t cells, size_t period)
{
	size_t begin = 0, end = series->count;

	if (period && end > cells) {
		begin = busiest(series, waits, cells) / period * period;
		end = begin + cells;
	}
	/* Batches at the end whose times are unknown would be drawn as blanks: leave them out. */
	while (end > begin && !judge(series, waits, end - 1, end))
		end--;
	put_cells(page, series, waits, begin, end, end - begin < cells ? end - begin : cells);
}

static void put_legend(const struct page *page)
{
	char text[256] = "";

	for (size_t i = 0; i < ARRAY_COUNT(LEVELS); i++)
		page_append(text, sizeof(text), "%s%s %s", i ? ", " : "",
			    page->ascii ? LEVELS[i].ascii : LEVELS[i].cell, LEVELS[i].text);
	page_entry(page, INDENT + 1, INDENT + 1, "", "%s", text);
}

void strip_print(const struct page *page, const struct batch_series *series, const float *waits)
{
	size_t width = (size_t)page->width - INDENT - 2, begin, end;

	if (!strip_is_known(series, waits))
		return;
	if (series->count <= width * MOST_LINES) {
		page_line(page, "%*sWaits over time (one cell is one batch)", INDENT, "");
		for (begin = 0; begin < series->count; begin = end) {
			end = begin + width < series->count ? begin + width : series->count;
			put_line(page, series, waits, begin, end, end - begin);
		}
	} else {
		page_line(page, "%*sWaits over time (one cell is about %s batches)", INDENT, "",
			  UNITS_COUNT(llrint((double)series->count / (double)width)));
		put_line(page, series, waits, 0, series->count, width);
	}
	put_legend(page);
	page_break(page);
}

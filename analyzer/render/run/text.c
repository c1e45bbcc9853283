/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - prints a report on a terminal; the least important is left out to fit SCREEN_LINES. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/units.h"
#include "render/form/strip.h"
#include "render/run/parts.h"

#define SCREEN_LINES 22
#define INDENT       2
#define HANG         9
#define STEP_HANG    12
#define BAR_MOST     100
#define STRIP_LEAST  20
#define COVERAGE_HANG 16 /* column of the texts beside labels, as in dlprof doctor */
#define LINE_MOST    1024

struct fit {
	/* Number of printed blank lines before "Why", "Next", "Waits" and "More". */
	int blanks;
	/* Number of entries after the first remedy, in this order: the second remedy, how to apply
	 * it, the third remedy, how to apply that. */
	int steps;
	/* Number of rows on what a load and a step consist of, the load's first. With 0, the row
	 * "Others" is left out, too. */
	size_t load_rows;
	bool has_line;
};
#define FIT_BLANKS 4
#define FIT_STEPS  4
#define FIT_LOAD   SIZE_MAX
#define FIT_CALM   2 /* blank lines that are kept as long as remedies can be shortened instead */

static void put_bar(const struct outline_block *block, const struct page *page)
{
	int cells = (page->width < BAR_MOST ? page->width : BAR_MOST) - 2 * INDENT, from = 0;
	size_t parts = block->count, i;
	double sum = 0;

	fprintf(page->out, "%*s", INDENT, "");
	for (i = 0; i < parts; i++) {
		const struct outline_row *row = &block->rows[i];
		int to;

		sum += row->share;
		to = i + 1 == parts ? cells : (int)lrint(sum * cells);
		if (to <= from)
			to = from + 1;
		if (to > cells - (int)(parts - 1 - i))
			to = cells - (int)(parts - 1 - i);
		page_color(page, row->tone);
		for (; from < to; from++)
			fputs(share_looks[row->part].glyph[page->ascii], page->out);
		page_color(page, PAGE_PLAIN);
	}
	fputc('\n', page->out);
}

static const char *part_words(const struct outline_row *row, bool is_short)
{
	return is_short && row->part == ACCOUNT_EPOCH_END ? "end" : row->cells[0];
}

static int legend_columns(const struct outline_block *block, const struct page *page, bool is_short)
{
	int columns = 0;

	for (size_t i = 0; i < block->count; i++)
		columns += 5 + page_columns(page, part_words(&block->rows[i], is_short)) +
			   page_columns(page, block->rows[i].cells[1]);
	return columns + (int)block->count;
}

/* Prints the bar's legend; lines break only between parts. */
static void put_legend(const struct outline_block *block, const struct page *page)
{
	bool is_short = legend_columns(block, page, false) - 1 > page->width;
	int gap = is_short ? 2 : 3, column = 0;

	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];
		const char *words = part_words(row, is_short);
		int width = 3 + page_columns(page, words) + page_columns(page, row->cells[1]);

		if (column && column + gap + width > page->width) {
			fputc('\n', page->out);
			column = 0;
		}
		fprintf(page->out, "%*s", column ? gap : INDENT, "");
		column += (column ? gap : INDENT) + width;
		page_color(page, row->tone);
		fputs(share_looks[row->part].glyph[page->ascii], page->out);
		page_color(page, PAGE_PLAIN);
		fprintf(page->out, " %s %s", words, row->cells[1]);
	}
	fputc('\n', page->out);
}

/* Prints each row on one line, and cuts what does not fit. */
static void put_lines(const struct outline_block *block, const struct page *page)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];

		page_color(page, row->tone);
		page_line(page, "%*s%-*s%s", INDENT, "", HANG - INDENT, row->cells[0],
			  row->cells[1]);
		page_color(page, PAGE_PLAIN);
	}
}

static void put_next(const struct outline_block *block, const struct page *page,
		     const struct fit *fit)
{
	size_t most = fit->steps > 2 ? 3 : fit->steps > 0 ? 2 : 1;
	size_t shown = block->count < most ? block->count : most, i;
	char label[HANG + 8];

	for (i = 0; i < shown; i++) {
		const struct outline_row *row = &block->rows[i];
		bool how = i == 0 || (i == 1 ? fit->steps > 1 : fit->steps == FIT_STEPS);

		snprintf(label, sizeof(label), "%-*s%s", HANG - INDENT, i ? "" : "Next",
			 row->cells[0]);
		page_entry(page, INDENT, STEP_HANG, label, "%s", row->cells[1]);
		if (how && row->count > 2 && *row->cells[2])
			page_entry(page, STEP_HANG, STEP_HANG, "", "%s", row->cells[2]);
	}
}

static void put_waits(const struct report *report, const struct outline_block *block,
		      const struct page *page)
{
	const struct period *period = &report->diagnosis.wait;
	const float *waits = stall_waits(&report->series, &report->finding);
	int room = page->width - HANG, beside;
	const char *words;

	if (!block->count || !strip_is_known(&report->series, waits))
		return;
	words = block->rows[0].cells[1];
	beside = *words ? page_columns(page, words) + 3 : 0;
	if (room - beside < STRIP_LEAST)
		beside = 0;
	fprintf(page->out, "%*s%-*s", INDENT, "", HANG - INDENT, block->rows[0].cells[0]);
	strip_line(page, &report->series, waits, (size_t)(room - beside),
		   period->regular && period->batches > 0 ? (size_t)period->batches : 0);
	fprintf(page->out, "%s%s\n", beside ? "   " : "", beside ? words : "");
}

static void put_joined(const struct outline_block *block, const struct page *page,
		       const char *between)
{
	const struct outline_row *row = &block->rows[0];
	char text[LINE_MOST] = "";

	if (!block->count)
		return;
	for (size_t i = 1; i < row->count; i++)
		if (i == 1 || HANG + page_columns(page, text) + (int)strlen(between) +
					      page_columns(page, row->cells[i]) <=
				      page->width)
			page_append(text, sizeof(text), "%s%s", i > 1 ? between : "",
				    row->cells[i]);
	page_line(page, "%*s%-*s%s", INDENT, "", HANG - INDENT, row->cells[0], text);
}

static bool has(const struct outline *outline, const char *chapter)
{
	return outline_find(outline, chapter)->count > 0;
}

static void put_items(const struct outline *outline, const char *chapter, const struct page *page)
{
	outline_text_items(outline_find(outline, chapter), page, HANG);
}

static void put_screen(const struct report *report, const struct outline *outline,
		       const struct page *page, const struct fit *fit)
{
	struct outline_block load = *outline_find(outline, SCREEN_LOAD);

	outline_text_head(outline_find(outline, OUTLINE_HEAD), page);
	page_break(page);
	outline_text_verdict(outline_find(outline, OUTLINE_VERDICT), page);
	if (has(outline, SCREEN_ACCOUNT)) {
		page_break(page);
		put_bar(outline_find(outline, SCREEN_ACCOUNT), page);
		put_legend(outline_find(outline, SCREEN_ACCOUNT), page);
	}
	if (fit->blanks >= 1 && (load.count || has(outline, SCREEN_WHY)))
		page_break(page);
	if (load.count > fit->load_rows)
		load.count = fit->load_rows;
	outline_text_items(&load, page, HANG);
	put_items(outline, SCREEN_WHY, page);
	if (fit->has_line)
		put_items(outline, SCREEN_LINE, page);
	if (fit->blanks >= 2 && (has(outline, SCREEN_NEXT) || has(outline, SCREEN_NO)))
		page_break(page);
	put_next(outline_find(outline, SCREEN_NEXT), page, fit);
	put_joined(outline_find(outline, SCREEN_NO), page, ", ");
	put_items(outline, SCREEN_IF, page);
	if (fit->blanks >= 3)
		page_break(page);
	put_waits(report, outline_find(outline, SCREEN_WAITS), page);
	if (fit->steps == FIT_STEPS)
		put_items(outline, SCREEN_SURE, page);
	else
		put_lines(outline_find(outline, SCREEN_SURE), page);
	if (fit->load_rows)
		put_lines(outline_find(outline, SCREEN_OTHERS), page);
	if (fit->blanks >= 4)
		page_break(page);
	put_joined(outline_find(outline, OUTLINE_MORE), page, "    ");
}

/* Prints the screen if it fits or `is_last`. Returns 1, 0 (it has too many lines) or -ENOMEM. */
static int try_screen(const struct report *report, const struct outline *outline,
		      const struct page *page, const struct fit *fit, bool is_last)
{
	struct page copy = *page;
	char *text = NULL;
	size_t size, lines = 0;
	int r;

	copy.out = open_memstream(&text, &size);
	if (!copy.out)
		return -ENOMEM;
	put_screen(report, outline, &copy, fit);
	r = fclose(copy.out) != 0 ? -ENOMEM : 1;
	for (const char *at = text; r == 1 && *at; at++)
		lines += *at == '\n';
	if (r == 1 && !is_last && lines > SCREEN_LINES)
		r = 0;
	if (r == 1)
		fputs(text, page->out);
	free(text);
	return r;
}

static int fit_screen(const struct report *report, const struct outline *outline,
		      const struct page *page, int *ret_steps)
{
	/* The row of a step's parts goes first: readers more often want to know a load's parts. */
	static const struct fit fewer[] = {
		{.load_rows = 1, .has_line = true}, {.load_rows = 1}, {.load_rows = 0}};
	struct fit fit = {.load_rows = FIT_LOAD, .has_line = true};
	int r = 0;

	for (fit.steps = FIT_STEPS; r == 0 && fit.steps > 0; fit.steps--)
		for (fit.blanks = FIT_BLANKS; r == 0 && fit.blanks >= FIT_CALM; fit.blanks--) {
			*ret_steps = fit.steps;
			r = try_screen(report, outline, page, &fit, false);
		}
	/* The second remedy is more important than the last blank lines. */
	for (fit.steps = 1; r == 0 && fit.steps >= 0; fit.steps--)
		for (fit.blanks = FIT_CALM - 1; r == 0 && fit.blanks >= 0; fit.blanks--) {
			*ret_steps = fit.steps;
			r = try_screen(report, outline, page, &fit, false);
		}
	for (size_t i = 0; r == 0 && i < ARRAY_COUNT(fewer); i++)
		r = try_screen(report, outline, page, &fewer[i], i + 1 == ARRAY_COUNT(fewer));
	return r < 0 ? r : 0;
}

static void put_all_next(const struct outline *outline, const struct page *page, int steps)
{
	const struct outline_block *block = outline_find(outline, SCREEN_NEXT);

	if (block->count < 2 || steps >= (block->count > 2 ? FIT_STEPS : 2))
		return;
	page_break(page);
	put_next(block, page, &(struct fit){.steps = FIT_STEPS});
}

static size_t count_screen(const struct outline *outline)
{
	size_t count = 0;

	while (strcmp(outline->blocks[count++].chapter, OUTLINE_MORE) != 0)
		continue;
	return count;
}

int report_text(const struct report *report, bool all, const struct page *page)
{
	struct outline outline;
	int r = screen_outline(report, all, &outline), steps = FIT_STEPS;

	if (r == 0)
		r = fit_screen(report, &outline, page, &steps);
	if (r == 0 && all)
		put_all_next(&outline, page, steps);
	if (r == 0)
		outline_text_blocks(&outline, count_screen(&outline), page);
	outline_done(&outline);
	return r;
}

int report_why(const struct report *report, const struct page *page)
{
	struct outline outline;
	int r = screen_outline(report, false, &outline);

	if (r == 0) {
		put_items(&outline, SCREEN_WHY, page);
		put_items(&outline, SCREEN_LINE, page);
		put_next(outline_find(&outline, SCREEN_NEXT), page,
			 &(struct fit){.steps = FIT_STEPS});
		put_joined(outline_find(&outline, SCREEN_NO), page, ", ");
	}
	outline_done(&outline);
	return r;
}

int report_markdown(const struct report *report, bool all, FILE *out)
{
	struct outline outline;
	int r = screen_outline(report, all, &outline);

	if (r == 0)
		outline_markdown(&outline, out);
	outline_done(&outline);
	return r;
}

/* Prints what was observed; the chapter "code" only if it says why there are no lines. */
int report_coverage(const struct report *report, const struct page *page)
{
	const char *const chapters[] = {"loader", "coverage",
					report->samples.reason ? "code" : NULL, NULL};
	struct outline outline;
	int r = screen_outline(report, true, &outline);

	for (size_t i = 0; r == 0 && chapters[i]; i++)
		for (size_t k = 0; k < outline.count; k++)
			if (strcmp(outline.blocks[k].chapter, chapters[i]) == 0)
				outline_text_items(&outline.blocks[k], page, COVERAGE_HANG);
	outline_done(&outline);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "render/form/outline.h"

#include <errno.h>
#include <string.h>

#include "render/form/strip.h"
#include "render/form/utf8.h"

#define INDENT     2
#define HANG       13
#define PATH_LEAST 12
#define LINE_MOST  1024

static size_t find_tail(const struct page *page, const char *path, int columns)
{
	const char *at = path;
	struct utf8 rune;
	size_t skipped;

	while (page_columns(page, at) > columns && utf8_next(&at, &rune))
		continue;
	skipped = (size_t)(at - path);
	return skipped + (strchr(at, '/') ? strcspn(at, "/") : 0);
}

static void put_head(const struct outline_row *row, const struct page *page)
{
	const char *name = row->cells[2];
	char text[LINE_MOST];
	int room;

	snprintf(text, sizeof(text), "dlprof  %s%s%s", row->cells[0], *row->cells[0] ? "  " : "",
		 row->cells[1]);
	room = page->width - page_columns(page, text) - 2;
	if (page_columns(page, name) <= room)
		page_line(page, "%s%*s%s", text, room + 2 - page_columns(page, name), "", name);
	else if (room >= PATH_LEAST)
		page_line(page, "%s  ...%s", text, name + find_tail(page, name, room - 3));
	else
		page_line(page, "%s", text);
}

void outline_text_head(const struct outline_block *block, const struct page *page)
{
	for (size_t i = 0; i < block->count; i++)
		put_head(&block->rows[i], page);
}

void outline_text_verdict(const struct outline_block *block, const struct page *page)
{
	const struct outline_row *row = &block->rows[0];

	page_color(page, row->tone);
	page_entry(page, INDENT, INDENT + page_columns(page, row->cells[0]) + 3, row->cells[0],
		   "%s", row->cells[1]);
	page_color(page, PAGE_PLAIN);
	for (size_t i = 2; i < row->count; i++)
		page_entry(page, INDENT, INDENT, "", "%s", row->cells[i]);
}

void outline_text_items(const struct outline_block *block, const struct page *page, int hang)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];

		page_color(page, row->tone);
		page_entry(page, INDENT, hang, row->cells[0], "%s", row->cells[1]);
		page_color(page, PAGE_PLAIN);
	}
}

static void add_cell(char *line, size_t size, const struct page *page, const char *text, int width,
		     bool is_number)
{
	int room = width - page_columns(page, text);
	char cut[LINE_MOST];

	if (room < 0) {
		struct utf8 rune;
		const char *at = text;
		int columns = 0;

		while (utf8_next(&at, &rune) && columns + 2 < width)
			columns += page_columns_of(page, &rune);
		snprintf(cut, sizeof(cut), "%.*s..", (int)(at - text - rune.length), text);
		text = cut;
		room = width - page_columns(page, text);
	}
	page_append(line, size, "%*s%s%*s  ", is_number && room > 0 ? room : 0, "", text,
		    !is_number && room > 0 ? room : 0, "");
}

static void put_row(const struct outline_block *block, char *const *cells, size_t count,
		    const int *widths, size_t columns, const struct page *page)
{
	bool has_text = block->headings[columns - 1][0] != '#';
	char line[LINE_MOST] = "";
	size_t i, length;
	int hang;

	for (i = 0; i < count && i + has_text < columns; i++)
		add_cell(line, sizeof(line), page, cells[i] ? cells[i] : "", widths[i],
			 block->headings[i][0] == '#');
	hang = 2 * INDENT + page_columns(page, line);
	length = strlen(line);
	while (length && line[length - 1] == ' ')
		line[--length] = '\0';
	if (!has_text || count < columns) {
		page_line(page, "%*s%s", 2 * INDENT, "", line);
	} else if (hang <= page->width) {
		page_entry(page, 2 * INDENT, hang, line, "%s", cells[columns - 1]);
	} else {
		page_line(page, "%*s%s", 2 * INDENT, "", line);
		page_entry(page, 3 * INDENT, 3 * INDENT, "", "%s", cells[columns - 1]);
	}
}

static void put_table(const struct outline_block *block, const struct page *page)
{
	char *headings[OUTLINE_CELLS];
	int widths[OUTLINE_CELLS];
	size_t columns = 0, i, row;

	for (; columns < OUTLINE_CELLS && block->headings[columns]; columns++) {
		const char *heading = block->headings[columns];

		headings[columns] = (char *)(uintptr_t)(heading + (*heading == '#'));
		widths[columns] = page_columns(page, headings[columns]);
	}
	for (row = 0; row < block->count; row++)
		for (i = 0; i < block->rows[row].count && i < columns; i++) {
			int width = page_columns(page, block->rows[row].cells[i]);

			if (block->headings[i][0] != '#' && width > page->width / 2)
				width = page->width / 2;
			if (width > widths[i])
				widths[i] = width;
		}
	page_color(page, PAGE_DIM);
	put_row(block, headings, columns, widths, columns, page);
	page_color(page, PAGE_PLAIN);
	for (row = 0; row < block->count; row++) {
		enum page_color tone = block->rows[row].tone;

		if (tone != PAGE_PLAIN)
			page_color(page, tone);
		put_row(block, block->rows[row].cells, block->rows[row].count, widths, columns,
			page);
		if (tone != PAGE_PLAIN)
			page_color(page, PAGE_PLAIN);
	}
}

static void put_block(const struct outline_block *block, const struct page *page)
{
	if (strcmp(block->chapter, OUTLINE_HEAD) == 0) {
		outline_text_head(block, page);
		return;
	}
	if (strcmp(block->chapter, OUTLINE_VERDICT) == 0) {
		outline_text_verdict(block, page);
		return;
	}
	if (block->series)
		strip_print(page, block->series, block->waits);
	if (block->title)
		page_entry(page, INDENT, INDENT, "", "%s", block->title);
	if (block->headings[0] && block->count)
		put_table(block, page);
	else
		outline_text_items(block, page, HANG);
}

void outline_text_blocks(const struct outline *outline, size_t first, const struct page *page)
{
	/* If a screen was printed before, a blank line precedes the first block, too. */
	bool is_first = !first, after_items = false;

	for (size_t i = first; i < outline->count; i++) {
		const struct outline_block *block = &outline->blocks[i];

		if (!block->count && !block->series)
			continue;
		if (!is_first &&
		    (!after_items || block->headings[0] || block->title || block->series))
			page_break(page);
		put_block(block, page);
		is_first = false;
		after_items = !block->headings[0] && strcmp(block->chapter, OUTLINE_HEAD) != 0 &&
			      strcmp(block->chapter, OUTLINE_VERDICT) != 0;
	}
}

int outline_show(struct outline *outline, const struct page *page, bool markdown)
{
	int r = outline->failed ? -ENOMEM : 0;

	if (r == 0 && markdown)
		outline_markdown(outline, page->out);
	else if (r == 0)
		outline_text_blocks(outline, 0, page);
	outline_done(outline);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c - writes the outline's blocks as tables of the page. */
#include <math.h>
#include <string.h>

#include "render/html/put.h"

static void put_cell(struct html *html, const char *sign, const char *text, bool is_number)
{
	html_put(html, is_number ? "<td class=\"n\">" : "<td>");
	if (sign)
		html_put(html, "<span aria-hidden=\"true\">%s</span> ", sign);
	html_text(html, text);
	html_put(html, "</td>");
}

static void put_bar(struct html *html, const struct outline_row *row)
{
	int id = ++html->figure_count;

	html_put(
		html,
		"<td class=\"bar\"><svg viewBox=\"0 0 200 14\" role=\"img\" aria-labelledby=\"f%dt "
		"f%dd\"><title id=\"f%dt\">",
		id, id, id);
	html_text(html, row->cells[0]);
	html_put(html, "</title><desc id=\"f%dd\">", id);
	html_text(html, row->cells[1]);
	html_put(html,
		 "</desc><rect class=\"compute\" x=\"0\" y=\"1\" width=\"%.1f\" height=\"12\"/>"
		 "</svg></td>",
		 row->share * 200);
}

static void put_table(struct html *html, const struct outline_block *block)
{
	html_table_begin(html, "", block->headings);
	for (size_t at = 0; at < block->count; at++) {
		const struct outline_row *row = &block->rows[at];

		html_put(html, "<tr>");
		for (size_t i = 0; block->headings[i]; i++)
			put_cell(html, i == row->signed_cell ? row->sign : NULL,
				 i < row->count ? row->cells[i] : "", *block->headings[i] == '#');
		if (!isnan(row->share))
			put_bar(html, row);
		html_put(html, "</tr>\n");
	}
	html_table_end(html);
}

static void put_items(struct html *html, const struct outline_block *block)
{
	html_put(html, "<table class=\"plain\"><tbody>\n");
	for (size_t row = 0; row < block->count; row++) {
		html_put(html, "<tr>");
		html_element(html, "th scope=\"row\"", "%s", block->rows[row].cells[0]);
		put_cell(html, NULL, block->rows[row].cells[1], false);
		html_put(html, "</tr>\n");
	}
	html_put(html, "</tbody></table>\n");
}

void html_blocks(struct html *html, const char *chapter)
{
	for (size_t i = 0; i < html->outline->count; i++) {
		const struct outline_block *block = &html->outline->blocks[i];

		if (!block->count || strcmp(block->chapter, chapter) != 0)
			continue;
		if (block->title) {
			html_element(html, "h3", "%s", block->title);
			html_put(html, "\n");
		}
		if (block->headings[0])
			put_table(html, block);
		else
			put_items(html, block);
	}
}

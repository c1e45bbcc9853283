/* SPDX-License-Identifier: Apache-2.0 */
/* markdown.c - writes an outline as Markdown, for issues, pull requests and pages of CI jobs. */
#include <string.h>

#include "render/form/escape.h"
#include "render/run/parts.h"

static void put_text(FILE *out, const char *text)
{
	escape_put(out, ESCAPE_MARKDOWN, text);
}

static void put_table(const struct outline_block *block, FILE *out)
{
	size_t columns = 0, i, row;

	fputc('|', out);
	for (; columns < OUTLINE_CELLS && block->headings[columns]; columns++)
		fprintf(out, " %s |",
			block->headings[columns] + (*block->headings[columns] == '#'));
	fputs("\n|", out);
	for (i = 0; i < columns; i++)
		fputs(*block->headings[i] == '#' ? " ---: |" : " --- |", out);
	fputc('\n', out);
	for (row = 0; row < block->count; row++) {
		fputc('|', out);
		for (i = 0; i < columns; i++) {
			fputc(' ', out);
			if (i < block->rows[row].count)
				put_text(out, block->rows[row].cells[i]);
			fputs(" |", out);
		}
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void put_items(const struct outline_block *block, FILE *out)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];

		fputs(*row->cells[0] ? "- **" : "- ", out);
		put_text(out, row->cells[0]);
		fputs(*row->cells[0] ? "** " : "", out);
		for (size_t cell = 1; cell < row->count; cell++) {
			fputs(cell > 1 ? ", " : "", out);
			put_text(out, row->cells[cell]);
		}
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void put_head(const struct outline_row *row, FILE *out)
{
	fputs("dlprof: ", out);
	put_text(out, row->cells[0]);
	fputs(*row->cells[0] ? ", " : "", out);
	put_text(out, row->cells[1]);
	fputs(" (", out);
	put_text(out, row->cells[2]);
	fputs(")\n\n", out);
}

static void put_verdict(const struct outline_row *row, FILE *out)
{
	fprintf(out, "### %s\n\n", row->cells[0]);
	put_text(out, row->cells[1]);
	fputs(".", out);
	for (size_t i = 2; i < row->count; i++) {
		fputc(' ', out);
		put_text(out, row->cells[i]);
	}
	fputs("\n\n", out);
}

static void put_next(const struct outline_block *block, FILE *out)
{
	fputs("**Next**\n\n", out);
	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];

		fprintf(out, "%s ", row->cells[0]);
		put_text(out, row->cells[1]);
		if (row->count > 2 && *row->cells[2]) {
			fputs(".\n   ", out);
			put_text(out, row->cells[2]);
		}
		fputc('\n', out);
	}
	fputc('\n', out);
}

static void put_block(const struct outline_block *block, FILE *out)
{
	if (strcmp(block->chapter, OUTLINE_HEAD) == 0) {
		for (size_t i = 0; i < block->count; i++)
			put_head(&block->rows[i], out);
	} else if (strcmp(block->chapter, OUTLINE_VERDICT) == 0) {
		put_verdict(&block->rows[0], out);
	} else if (strcmp(block->chapter, SCREEN_NEXT) == 0) {
		put_next(block, out);
	} else if (strcmp(block->chapter, SCREEN_WAITS) == 0 ||
		   strcmp(block->chapter, OUTLINE_MORE) == 0) {
		/* Leave out strips, which need cells of equal width, and shell commands. */
		return;
	} else {
		if (block->title) {
			fputs("#### ", out);
			put_text(out, block->title);
			fputs("\n\n", out);
		}
		if (block->headings[0])
			put_table(block, out);
		else
			put_items(block, out);
	}
}

void outline_markdown(const struct outline *outline, FILE *out)
{
	for (size_t i = 0; i < outline->count; i++)
		if (outline->blocks[i].count)
			put_block(&outline->blocks[i], out);
}

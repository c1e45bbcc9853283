/* SPDX-License-Identifier: Apache-2.0 */
/* header.c - writes the top of the page: the verdict, why, and what to do next. */
#include "render/form/verdict.h"

#include <math.h>

#include "render/html/put.h"
#include "render/run/parts.h"

void html_heading(struct html *html, enum stall_verdict verdict)
{
	const struct verdict *v = verdict_of(verdict);

	html_put(html, "<h1 class=\"%s\"><span aria-hidden=\"true\">%s</span> %s</h1>\n",
		 html_tone(v->tone), v->sign, v->words);
}

static void put_sentence(struct html *html, const char *sentence, const char *rest)
{
	size_t before = strcspn(sentence, "<0123456789");
	const char *percent = strchr(sentence + before, '%');
	size_t share = percent ? (size_t)(percent + 1 - sentence) - before : 0;

	html_put(html, "<p class=\"answer\">");
	html_say(html, "%.*s", (int)before, sentence);
	html_element(html, "strong", "%.*s", (int)share, sentence + before);
	html_say(html, "%s%s", sentence + before + share, rest);
	html_put(html, ".</p>\n");
}

void html_answer(struct html *html, enum stall_verdict verdict, const char *range)
{
	const struct outline_row *row = outline_find(html->outline, OUTLINE_VERDICT)->rows;

	if (!stall_is_judged(verdict))
		html_paragraph(html, "answer", "No verdict: %s.", row->cells[1]);
	else
		put_sentence(html, row->cells[1], range);
	for (size_t i = 2; i < row->count; i++)
		html_paragraph(html, "answer", "%s", row->cells[i]);
}

static void put_account(struct html *html)
{
	const struct outline_block *block = outline_find(html->outline, SCREEN_ACCOUNT);
	struct figure_part parts[SHARES_MOST];
	size_t count = 0;

	if (!block->count)
		return;
	for (; count < block->count && count < ARRAY_COUNT(parts); count++) {
		const struct outline_row *row = &block->rows[count];

		parts[count] = (struct figure_part){row->cells[0], share_looks[row->part].class,
						    row->share, row->cells[1]};
	}
	figure_balance(html, parts, count, "All time of the training",
		       "One bar of all that time; its parts are in the table below.");
}

void html_items(struct html *html, const char *chapter, const char *class)
{
	const struct outline_block *block = outline_find(html->outline, chapter);

	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];

		html_put(html, "<p class=\"%s\">",
			 row->tone == PAGE_PLAIN ? class : html_tone(row->tone));
		/* "No." would be read as "number". */
		if (*row->cells[0])
			html_put(html, "<b>%s.</b> ",
				 strcmp(chapter, SCREEN_NO) ? row->cells[0] : "No help");
		for (size_t cell = 1; cell < row->count; cell++)
			html_say(html, "%s%s", cell > 1 ? ", " : "", row->cells[cell]);
		html_put(html, "</p>\n");
	}
}

static void put_next(struct html *html)
{
	const struct outline_block *block = outline_find(html->outline, SCREEN_NEXT);

	if (!block->count)
		return;
	html_put(html, "<h2>Next steps</h2>\n<ol class=\"next\">\n");
	for (size_t i = 0; i < block->count; i++) {
		html_put(html, "<li>");
		html_text(html, block->rows[i].cells[1]);
		if (block->rows[i].count > 2) {
			html_put(html, "<br>");
			html_element(html, "span class=\"quiet\"", "%s", block->rows[i].cells[2]);
		}
		html_put(html, "</li>\n");
	}
	html_put(html, "</ol>\n");
}

void html_run(struct html *html, const char *command)
{
	const struct outline_row *head = outline_find(html->outline, OUTLINE_HEAD)->rows;

	html_put(html, "<header>\n<p class=\"run\">dlprof report of ");
	html_element(html, "b", "%s", head->cells[2]);
	html_say(html, ": %s", head->cells[1]);
	if (command) {
		html_put(html, "<br>");
		html_path(html, command);
	}
	html_put(html, "</p>\n");
}

void html_header(struct html *html)
{
	const struct report *report = html->report;
	const struct boot *boot = &report->diagnosis.boot;
	char range[2 * UNITS_MAX + 32] = "";

	if (!isnan(boot->low95))
		snprintf(range, sizeof(range), " (95 %% interval %s to %s)",
			 UNITS_SHARE(boot->low95), UNITS_SHARE(boot->high95));
	html_run(html, report->run.command);
	html_heading(html, report->finding.verdict);
	html_answer(html, report->finding.verdict, range);
	put_account(html);
	html_items(html, SCREEN_LOAD, "");
	html_items(html, SCREEN_WHY, "");
	html_items(html, SCREEN_LINE, "");
	put_next(html);
	html_items(html, SCREEN_NO, "quiet");
	html_items(html, SCREEN_SURE, "quiet");
	html_items(html, SCREEN_OTHERS, "quiet");
	html_put(html, "</header>\n\n");
}

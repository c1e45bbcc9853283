/* SPDX-License-Identifier: Apache-2.0 */
/* page.c - writes the page around its sections. */
#include "page_css.h"
#include "page_js.h"
#include "render/html/put.h"
#include "render/run/parts.h"

/* Only dlprof's own script and style, named by hash, may run: markup in a name can do no harm. */
#define POLICY(scripts)                                                                            \
	"default-src 'none'; " scripts "style-src '" PAGE_CSS_HASH                                 \
	"'; base-uri 'none'; form-action 'none'"

void html_head(struct html *html, bool has_script, const char *name)
{
	html_put(html,
		 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"%s\">\n"
		 "<meta name=\"referrer\" content=\"no-referrer\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		 "<meta name=\"color-scheme\" content=\"light dark\">\n"
		 "<meta name=\"generator\" content=\"dlprof-report " DLPROF_VERSION "\">\n"
		 "<title>dlprof: ",
		 has_script ? POLICY("script-src '" PAGE_JS_HASH "'; ") : POLICY(""));
	html_text(html, name);
	html_put(html, "</title>\n<style>");
	fputs(page_css, html->out);
	html_put(html, "</style>\n</head>\n<body>\n<main>\n");
	html_put(html,
		 "<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><title>Patterns"
		 "</title><desc>None of this is seen by itself.</desc><defs><pattern id=\"hatch\" "
		 "width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
		 "patternTransform=\"rotate(45)\"><rect class=\"hatch-ground\" width=\"5\" "
		 "height=\"5\"/><rect class=\"hatch-line\" width=\"1.6\" height=\"5\"/></pattern>"
		 "</defs></svg>\n");
}

void html_foot(struct html *html)
{
	html_put(html, "<footer><p>Made by dlprof " DLPROF_VERSION
		       "; one file that loads nothing. <code>dlprof-report --explain all</code> "
		       "explains the words.</p></footer>\n</main>\n");
}

void html_chapters(struct html *html, const char *id, const char *title,
		   const char *const *chapters)
{
	bool any = false;

	for (size_t i = 0; chapters[i]; i++)
		any |= outline_find(html->outline, chapters[i])->count > 0;
	if (!any)
		return;
	html_section(html, id, title);
	for (size_t i = 0; chapters[i]; i++)
		html_blocks(html, chapters[i]);
	html_section_end(html);
}

static int put_page(struct html *html)
{
	int r;

	html_head(html, true, html->report->name);
	html_header(html);
	html_timeline(html);
	html_gpu(html);
	r = html_pattern(html);
	html_life(html);
	html_lanes(html);
	html_predict(html);
	html_code(html);
	html_section_of(html, "slowest", "The slowest", "slowest");
	html_section_of(html, "coverage", "What was seen, and where", "loader", "coverage",
			"place");
	html_foot(html);
	if (r == 0)
		r = html_data(html);
	html_put(html, "<script>");
	fputs(page_js, html->out);
	html_put(html, "</script>\n</body>\n</html>\n");
	return r;
}

int html_write(const struct html_input *input, FILE *out)
{
	struct outline outline;
	struct html html = {
		.out = out, .input = input, .report = input->report, .outline = &outline};
	int r = screen_outline(input->report, true, &outline);

	if (r == 0)
		r = put_page(&html);
	outline_done(&outline);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "render/html/put.h"

#include <stdarg.h>
#include <string.h>

#include "render/form/escape.h"
#include "render/form/utf8.h"

#define LONGEST 4096

void html_put(struct html *html, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(html->out, format, args);
	va_end(args);
}

static void put_rune(FILE *out, const struct utf8 *rune)
{
	const char *escaped = escape_find(ESCAPE_HTML, rune->code);

	if (escaped)
		fputs(escaped, out);
	else if (rune->code < 0x20)
		fputc(' ', out);
	else if (!utf8_is_printable(rune))
		fputs("\xef\xbf\xbd", out);
	else
		fwrite(rune->bytes, 1, rune->length, out);
}

void html_text(struct html *html, const char *text)
{
	struct utf8 rune;

	while (utf8_next(&text, &rune))
		put_rune(html->out, &rune);
}

void html_say(struct html *html, const char *format, ...)
{
	char text[LONGEST];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	html_text(html, text);
}

const char *html_tone(enum page_color tone)
{
	static const char *const classes[PAGE_COLOR_MAX] = {
		[PAGE_PLAIN] = "",  [PAGE_BOLD] = "unknown", [PAGE_DIM] = "quiet",
		[PAGE_RED] = "bad", [PAGE_YELLOW] = "some",  [PAGE_GREEN] = "good",
	};

	return classes[tone];
}

void html_section(struct html *html, const char *id, const char *title)
{
	html_put(html, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n",
		 id, id, id, title);
}

void html_section_end(struct html *html)
{
	html_put(html, "</section>\n\n");
}

void html_table_begin(struct html *html, const char *caption, const char *const *headings)
{
	html_put(html, "<div class=\"wide\" tabindex=\"0\"><table>\n");
	if (*caption)
		html_put(html, "<caption>%s</caption>\n", caption);
	html_put(html, "<thead><tr>");
	for (; *headings; headings++)
		html_put(html, "<th scope=\"col\"%s>%s</th>",
			 **headings == '#' ? " class=\"n\"" : "", *headings + (**headings == '#'));
	html_put(html, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct html *html)
{
	html_put(html, "</tbody></table></div>\n");
}

void html_numbers_begin(struct html *html, const char *caption, const char *const *headings)
{
	html_put(html, "<details><summary>The numbers</summary>\n");
	html_table_begin(html, caption, headings);
}

void html_numbers_end(struct html *html)
{
	html_table_end(html);
	html_put(html, "</details>\n");
}

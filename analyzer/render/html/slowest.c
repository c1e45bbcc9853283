/* SPDX-License-Identifier: Apache-2.0 */
/* slowest.c - single samples, files, folders and calls that took longest. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/html/sections.h"

#define MOST_ROWS  8
#define MOST_CALLS 8

static void put_samples(struct html *html, const struct tally_list *list)
{
	char time[UNITS_MAX];
	size_t i;

	if (!list->count)
		return;
	html_put(html, "<h3>Samples</h3>\n");
	html_table(html, "",
		   (const char *const[]){"Sample", "#Slowest", "Last data file of it", NULL});
	for (i = 0; i < list->count && i < MOST_ROWS; i++) {
		const struct tally *sample = &list->items[i];

		html_put(html, "<tr><td>");
		html_text(html, sample->detail);
		html_put(html, "[%" PRId64 "]</td>", sample->class);
		html_number(html, "%s", html_time(time, (double)sample->ns));
		html_put(html, "<td>");
		if (sample->name[0])
			html_path(html, sample->name);
		html_put(html, "</td></tr>\n");
	}
	html_table_end(html);
}

static void put_paths(struct html *html, const struct tally_list *list, const char *title)
{
	char time[UNITS_MAX], slowest[UNITS_MAX], count[UNITS_MAX], bytes[UNITS_MAX];
	char least[UNITS_MAX];
	size_t i, shown = 0;

	for (i = 0; i < list->count && shown < MOST_ROWS; i++) {
		const struct tally *path = &list->items[i];

		/* Half guessed is not worth a name. */
		if (path->error_ns > path->ns / 2)
			break;
		if (!shown++) {
			html_put(html, "<h3>%s</h3>\n", title);
			html_table(html, "",
				   (const char *const[]){"", "#Time", "#Slowest call", "#Calls",
							 "#Bytes", NULL});
		}
		html_put(html, "<tr><td>");
		html_path(html, path->name);
		html_put(html, "</td>");
		html_time(least, (double)(path->ns - path->error_ns));
		html_time(time, (double)path->ns);
		if (strcmp(least, time) != 0)
			html_number(html, "%s to %s", least, time);
		else
			html_number(html, "%s", time);
		html_number(html, "%s", html_time(slowest, (double)path->slowest_ns));
		html_number(html, "%s", units_count(count, path->count));
		html_number(html, "%s", units_bytes(bytes, (double)path->bytes));
		html_put(html, "</tr>\n");
	}
	if (shown)
		html_table_end(html);
}

static void put_calls(struct html *html, const struct inside *inside)
{
	char time[UNITS_MAX];
	size_t i;

	if (!inside->slow_count)
		return;
	html_put(html, "<h3>Single calls</h3>\n");
	html_table(html, "", (const char *const[]){"#Time", "Call", NULL});
	for (i = 0; i < inside->slow_count && i < MOST_CALLS; i++) {
		const struct slow_call *call = &inside->slow[i];

		html_put(html, "<tr>");
		html_number(html, "%s", html_time(time, (double)call->ns));
		html_put(html, "<td>");
		html_path(html, call->what);
		if (call->stack[0]) {
			html_put(html, "<details><summary>Stack</summary><pre>");
			/* Its lines stay lines; html_text() makes blanks of control characters. */
			for (const char *line = call->stack; *line;) {
				const char *end = line;

				while (*end && *end != '\n')
					end++;
				html_say(html, "%.*s", (int)(end - line), line);
				html_put(html, "\n");
				line = *end ? end + 1 : end;
			}
			html_put(html, "</pre></details>");
		}
		html_put(html, "</td></tr>\n");
	}
	html_table_end(html);
}

void html_slowest(struct html *html)
{
	const struct inside *inside = &html->report->inside;

	if (!inside->samples.count && !inside->files.count && !inside->slow_count)
		return;
	html_section(html, "slowest", "The slowest", "");
	put_samples(html, &inside->samples);
	put_paths(html, &inside->files, "Files");
	put_paths(html, &inside->folders, "Folders");
	put_calls(html, inside);
	html_section_end(html);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.c - shows waits and steps over the run: a table, and a figure that time.js draws. */
#include "analysis/account/series.h"
#include "render/html/put.h"

#define TABLE_ROWS 24

static void put_numbers(struct html *html, const struct batch_series *s)
{
	size_t rows = s->count < TABLE_ROWS ? s->count : TABLE_ROWS, i;

	html_numbers(html, "", "Batches", "#Mean wait", "#Mean step", "#GPU busy",
		     "#Longest batch");
	for (i = 0; i < rows; i++) {
		struct bar bar = bar_of(s, s->count * i / rows, s->count * (i + 1) / rows);

		html_put(html, "<tr>");
		html_cell(html, "%zu to %zu", bar.begin, bar.end - 1);
		html_number(html, "%s", UNITS_TIME(bar.wait_ns));
		html_number(html, "%s", UNITS_TIME(bar.compute_ns));
		html_number(html, "%s", s->gpu_busy_ns ? UNITS_TIME(bar.busy_ns) : "–");
		html_number(html, "%s", UNITS_TIME(bar.most_ns));
		html_put(html, "</tr>\n");
	}
	html_numbers_end(html);
}

static void put_figure(struct html *html)
{
	const struct batch_series *s = &html->report->series;
	const bool single = s->count <= HTML_TIME_BARS;
	const struct figure_key all_keys[] = {
		{"compute",
		 s->compute_ns ? "step" : "step, waiting included"},
		{"wait", "waiting for data"},
		{"most", "up to the longest batch of the bar"},
		{"busy", "the GPU was busy for"},
	};
	const bool wanted[] = {true, s->wait_ns != NULL, !single, s->gpu_busy_ns != NULL};
	struct figure_key keys[5] = {{0}};
	char words[80] = "one batch is one bar";
	size_t key_count = 0, i;

	if (!single)
		snprintf(words, sizeof(words), "a bar is the mean of %zu batches",
			 (s->count + HTML_TIME_BARS - 1) / HTML_TIME_BARS);
	for (i = 0; i < 4; i++)
		if (wanted[i])
			keys[key_count++] = all_keys[i];
	html_put(html, "<figure id=\"time\">\n");
	figure_put_keys(html, keys);
	html_put(html, "<figcaption>");
	html_say(html, "Time of a batch, its wait and its step; %s. %s", words, FIGURE_SCALE_WORDS);
	html_put(html, "<noscript> This figure is drawn with JavaScript; its numbers are below."
		       "</noscript></figcaption>\n</figure>\n");
}

void html_timeline(struct html *html)
{
	const struct batch_series *s = &html->report->series;

	if (!s->count || (!s->compute_ns && !s->step_ns))
		return;
	html_section(html, "wait", "Where the time went");
	html_blocks(html, "wait");
	put_figure(html);
	put_numbers(html, s);
	html_stages(html);
	html_section_end(html);
}

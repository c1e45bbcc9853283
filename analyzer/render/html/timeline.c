/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.c - wait and compute of the whole run. A batch is a bar; where there are more batches
 * than a picture has room for, a bar is the mean of as many as it takes, and a line above it goes
 * up to the longest of them.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/account/bar.h"
#include "render/html/figure.h"
#include "render/html/sections.h"

#define MOST_BARS   318
#define HEIGHT      190
#define MOST_EPOCHS 12
#define TABLE_ROWS  24

static double find_top(const struct bar *bars, size_t count)
{
	double mean = 0, top, *most = malloc((count + 1) * sizeof(*most));

	if (!most)
		return NAN;
	for (size_t i = 0; i < count; i++) {
		most[i] = bars[i].most_ns;
		if (!isnan(bars[i].wait_ns))
			mean = fmax(mean, bars[i].wait_ns + bars[i].compute_ns);
	}
	top = figure_scale(most, count);
	/* Where most bars are single batches, their means are those few. */
	if (bars[0].end - bars[0].begin > 1)
		top = fmax(top, mean * 1.05);
	free(most);
	return top;
}

enum part { PART_COMPUTE, PART_WAIT, PART_MOST, PART_BUSY };

static void put_path(struct figure *f, const struct bar *bars, size_t count, enum part part,
		     const char *class)
{
	html_put(f->html, "<path class=\"%s\" d=\"", class);
	for (size_t i = 0; i < count; i++) {
		const struct bar *bar = &bars[i];
		double x = figure_x(f, (double)bar->begin), x2 = figure_x(f, (double)bar->end);
		double width = x2 - x > 3 ? x2 - x - 0.6 : x2 - x;
		double compute = figure_y(f, bar->compute_ns);
		double step = figure_y(f, bar->wait_ns + bar->compute_ns);

		if (isnan(bar->wait_ns) || (part == PART_BUSY && isnan(bar->busy_ns)))
			continue;
		switch (part) {
		case PART_COMPUTE:
			html_put(f->html, "M%.1f %.1fV%.1fh%.1fV%.1fz", x, f->bottom, compute,
				 width, f->bottom);
			break;
		case PART_WAIT:
			if (compute - step > 0.05)
				html_put(f->html, "M%.1f %.1fV%.1fh%.1fV%.1fz", x, compute, step,
					 width, compute);
			break;
		case PART_MOST:
			html_put(f->html, "M%.1f %.1fV%.1f", (x + x2) / 2, step,
				 figure_y(f, bar->most_ns));
			break;
		case PART_BUSY:
			html_put(f->html, "M%.1f %.1fh%.1f", x, figure_y(f, bar->busy_ns), x2 - x);
			break;
		}
	}
	html_put(f->html, "\"/>\n");
}

static void put_epochs(struct figure *f, const struct batch_series *s)
{
	size_t i, count = 0;

	for (i = 1; i < s->run_count; i++)
		count += s->runs[i].epoch != s->runs[i - 1].epoch;
	if (!count || count > MOST_EPOCHS)
		return;
	html_put(f->html, "<g class=\"epoch\">");
	for (i = 1; i < s->run_count; i++) {
		double x = figure_x(f, (double)s->runs[i].begin);

		if (s->runs[i].epoch != s->runs[i - 1].epoch)
			html_put(f->html,
				 "<path d=\"M%.1f %.1fV%.1f\"/>"
				 "<text x=\"%.1f\" y=\"%.1f\">epoch %d</text>",
				 x, f->bottom, f->top, x + 4, f->top + 4, s->runs[i].epoch);
	}
	html_put(f->html, "</g>\n");
}

static void put_numbers(struct html *html, const struct batch_series *s)
{
	static const char *const headings[] = {"Batches",   "#Mean wait",    "#Mean compute",
					       "#GPU busy", "#Longest step", NULL};
	size_t rows = s->count < TABLE_ROWS ? s->count : TABLE_ROWS, i;

	html_numbers(html, "", headings);
	for (i = 0; i < rows; i++) {
		struct bar bar = bar_of(s, s->count * i / rows, s->count * (i + 1) / rows);

		html_put(html, "<tr>");
		html_cell(html, "%zu to %zu", bar.begin, bar.end - 1);
		html_number(html, "%s", HTML_TIME(bar.wait_ns));
		html_number(html, "%s", HTML_TIME(bar.compute_ns));
		html_number(html, "%s", s->gpu_busy_ns ? HTML_TIME(bar.busy_ns) : "–");
		html_number(html, "%s", HTML_TIME(bar.most_ns));
		html_put(html, "</tr>\n");
	}
	html_numbers_end(html);
}

static void put_figure(struct html *html, const struct bar *bars, size_t count)
{
	const struct batch_series *s = &html->report->series;
	size_t each = bars[0].end - bars[0].begin;
	bool single = each == 1;
	const struct figure_key all_keys[] = {
		{"compute",
		 s->compute_ns ? "compute: the rest of the step" : "a step, waiting included"},
		{"wait", "waiting for data"},
		{"most", "up to the longest step of the bar"},
		{"busy", "the GPU was busy for"},
	};
	const bool wanted[] = {true, s->wait_ns != NULL, !single, s->gpu_busy_ns != NULL};
	struct figure_key keys[5] = {{0}};
	size_t key_count = 0, i;
	struct figure f;
	char words[80] = "one batch is one bar";

	if (!single)
		snprintf(words, sizeof(words), "a bar is the mean of %zu batches", each);
	for (i = 0; i < 4; i++)
		if (wanted[i])
			keys[key_count++] = all_keys[i];
	html_put(html, "<figure id=\"time\">\n");
	figure_begin(html, &f, "plot", HEIGHT, "Wait and compute, batch by batch",
		     "%zu batches from left to right; %s. The lower part is compute, the upper "
		     "part the wait before it.",
		     s->count, words);
	f.x_high = (double)s->count;
	f.y_high = find_top(bars, count);
	figure_y_times(&f);
	html_put(html, "<g id=\"bars\">\n");
	put_path(&f, bars, count, PART_COMPUTE, "compute");
	put_path(&f, bars, count, PART_WAIT, "wait");
	if (!single)
		put_path(&f, bars, count, PART_MOST, "most");
	if (s->gpu_busy_ns)
		put_path(&f, bars, count, PART_BUSY, "busy");
	put_epochs(&f, s);
	html_put(html, "</g>\n");
	figure_x_numbers(&f, "batch");
	figure_end(&f);
	figure_keys(html, keys);
	html_put(html, "<figcaption>");
	html_say(html, "Time a step took, %s. %s", words, FIGURE_SCALE_WORDS);
	html_put(html, "</figcaption>\n</figure>\n");
}

int html_timeline(struct html *html)
{
	const struct batch_series *s = &html->report->series;
	struct bar *bars;
	size_t count;
	int r;

	if (!s->count || (!s->compute_ns && !s->step_ns))
		return 0;
	r = bars_of(s, MOST_BARS, &bars, &count);
	if (r < 0)
		return r;
	html_section(html, "wait", "Where the time went");
	html_blocks(html, "wait");
	put_figure(html, bars, count);
	put_numbers(html, s);
	html_section_end(html);
	free(bars);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c - writes what the GPU did in the steps: busy, idle and why, copies and kernels. */
#include <math.h>

#include "render/html/put.h"
#include "render/run/parts.h"

#define HEIGHT       150
#define TABLE_ROWS   24
#define NOT_KNOWN    GPU_GAP_MAX
#define PARTS        (GPU_GAP_MAX + 1)

static const char *const CLASSES[PARTS] = {
	[GPU_GAP_DATA] = "wait", [GPU_GAP_H2D] = "copy",   [GPU_GAP_SYNC] = "sync",
	[GPU_GAP_HOST] = "host", [GPU_GAP_OTHER] = "rest", [NOT_KNOWN] = "masked",
};

static const char *part_words(int part)
{
	return part == NOT_KNOWN ? "idle, and why is not known" : gpu_gap_words((enum gpu_gap)part);
}

/* Returns a part's time; 0 for a rest below a thousandth of the steps, which is due to rounding. */
static double part_ns(const double *gap_ns, double step_ns, double busy_ns, int part)
{
	double rest_ns = step_ns - busy_ns;

	if (part != NOT_KNOWN)
		return isnan(gap_ns[part]) ? 0 : gap_ns[part];
	for (int gap = 0; gap < GPU_GAP_MAX; gap++)
		rest_ns -= isnan(gap_ns[gap]) ? 0 : gap_ns[gap];
	return rest_ns > step_ns / 1000 ? rest_ns : 0;
}

static double sum_part(const struct gpu_sums *sums, int part)
{
	return part_ns(sums->gap_ns, sums->step_ns, sums->busy_ns, part);
}

static double bar_part(const struct gpu_bar *bar, int part)
{
	return bar->count ? part_ns(bar->gap_ns, bar->step_ns, bar->busy_ns, part) : 0;
}

static void put_balance(struct html *html)
{
	const struct gpu_sums *sums = &html->report->gpu_sums;
	struct figure_part parts[1 + PARTS] = {
		{"busy", "busy", sums->busy_ns / sums->step_ns, NULL}};

	for (int part = 0; part < PARTS; part++)
		parts[1 + part] = (struct figure_part){part_words(part), CLASSES[part],
						       sum_part(sums, part) / sums->step_ns, NULL};
	figure_balance(html, parts, 1 + PARTS, "The GPU's time in all steps",
		       "Busy, and idle by cause; the parts are in the table below.");
}

static double idle_ns(const struct gpu_bar *bar)
{
	double ns = 0;

	for (int part = 0; part < PARTS; part++)
		ns += bar_part(bar, part);
	return ns;
}

static void put_part(struct figure *f, const struct gpu_bar *bars, size_t count, int part)
{
	size_t each = f->html->input->gpu_bar_each;

	html_put(f->html, "<path class=\"%s\" d=\"", CLASSES[part]);
	for (size_t i = 0; i < count; i++) {
		double x = figure_x(f, (double)(i * each));
		double x2 = figure_x(f, fmin((double)((i + 1) * each), f->x_high));
		double below_ns = 0;

		for (int under = 0; under < part; under++)
			below_ns += bar_part(&bars[i], under);
		figure_bar(f, x, x2, figure_y(f, below_ns),
			   figure_y(f, below_ns + bar_part(&bars[i], part)));
	}
	html_put(f->html, "\"/>\n");
}

static void put_figure(struct html *html)
{
	const struct gpu_bar *bars = html->input->gpu_bars;
	const struct gpu_sums *sums = &html->report->gpu_sums;
	size_t count = html->input->gpu_bar_count, batches = html->report->series.count, i;
	struct figure_key keys[PARTS + 1] = {{0}};
	double idle[HTML_GPU_BARS];
	char words[80] = "one step is one bar";
	size_t key_count = 0;
	struct figure f;

	html_put(html, "<figure id=\"idle\">\n");
	figure_begin(html, &f, "plot", HEIGHT, "Idle time of the GPU, step by step",
		     "%zu steps from left to right: how long the GPU was idle in each, by cause.",
		     batches);
	f.x_high = (double)batches;
	for (i = 0; i < count; i++)
		idle[i] = idle_ns(&bars[i]);
	f.y_high = figure_scale(idle, count);
	figure_y_axis(&f, true);
	for (int part = 0; part < PARTS; part++) {
		if (!(sum_part(sums, part) > 0))
			continue;
		put_part(&f, bars, count, part);
		keys[key_count++] = (struct figure_key){CLASSES[part], part_words(part)};
	}
	figure_x_numbers(&f, "batch");
	figure_end(&f);
	figure_put_keys(html, keys);
	html_put(html, "<figcaption>");
	if (html->input->gpu_bar_each > 1)
		snprintf(words, sizeof(words), "a bar is the mean of %zu steps",
			 html->input->gpu_bar_each);
	html_say(html, "How long the GPU was idle in a step; %s. %s", words, FIGURE_SCALE_WORDS);
	html_put(html, "</figcaption>\n</figure>\n");
}

static void put_numbers(struct html *html)
{
	const struct gpu_bar *bars = html->input->gpu_bars;
	size_t count = html->input->gpu_bar_count, each = html->input->gpu_bar_each, i;
	size_t batches = html->report->series.count;
	size_t skip = (count + TABLE_ROWS - 1) / TABLE_ROWS;

	html_numbers(html, skip > 1 ? "Some of the bars" : "", "Batches", "#Step", "#Busy", "#Data",
		     "#Copies", "#Sync", "#Host", "#Other");
	for (i = 0; i < count; i += skip) {
		html_put(html, "<tr>");
		html_cell(html, "%zu to %zu", i * each,
			  (i + 1 == count ? batches : (i + 1) * each) - 1);
		for (int k = -2; k < GPU_GAP_MAX; k++) {
			double ns = k == -2   ? bars[i].step_ns
				    : k == -1 ? bars[i].busy_ns
					      : bars[i].gap_ns[k];

			html_number(html, "%s", isnan(ns) ? "–" : UNITS_TIME(ns));
		}
		html_put(html, "</tr>\n");
	}
	html_numbers_end(html);
}

void html_gpu(struct html *html)
{
	const struct report *report = html->report;

	if (!report->gpu_use.is_known && !report->gpu.kernels.count)
		return;
	html_section(html, "gpu", "What the GPU did");
	if (report->gpu_sums.batch_count > 0 && report->gpu_sums.step_ns > 0) {
		put_balance(html);
		put_figure(html);
		put_numbers(html);
	}
	html_blocks(html, "gpu");
	html_section_end(html);
}

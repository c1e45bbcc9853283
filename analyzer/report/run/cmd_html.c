/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_html.c - `dlprof-report html RUN -o REPORT.html`: judges a run, and writes its page. */
#include <errno.h>
#include <stdlib.h>

#include "analysis/predict/take.h"
#include "render/html/html.h"
#include "report/run/judge.h"

#define MOST_MEANS 100000

static int add_row(const struct batch_record *batch, void *context)
{
	struct html_window *window = context;

	window->rows[window->row_count++] = *batch;
	return 0;
}

/* Reads the batches of a window. Like --batches, it begins to count at the first judged batch. */
static int read_window(struct db *db, const struct batch_filter *judged, struct html_window *window)
{
	struct batch_filter filter = *judged;
	int64_t last;

	filter.first = (judged->first > 0 ? judged->first : 0) + (int64_t)window->begin;
	last = filter.first + (int64_t)(window->count + window->ahead) - 1;
	if (filter.last < 0 || filter.last > last)
		filter.last = last;
	window->rows = calloc(window->count + window->ahead, sizeof(*window->rows));
	if (!window->rows)
		return -ENOMEM;
	return batch_each(db, &filter, add_row, window);
}

static int read_input(struct db *db, const struct report *report, void *context)
{
	struct html_input *ret = context;
	int r = gpu_means_read(db, report->filter.loader_id, MOST_MEANS, &ret->device);

	if (r == 0 && report->gpu_sums.batch_count > 0 && report->series.count) {
		ret->gpu_bar_each = (report->series.count + HTML_GPU_BARS - 1) / HTML_GPU_BARS;
		ret->gpu_bar_count =
			(report->series.count + ret->gpu_bar_each - 1) / ret->gpu_bar_each;
		r = gpu_bars_read(db, &report->filter, ret->gpu_bar_each, ret->gpu_bars,
				  ret->gpu_bar_count);
	}
	if (r == 0)
		r = stage_bars_read(db, report->filter.loader_id, &ret->stage_bars,
				    &ret->stage_bar_count);
	ret->window_count = html_choose_windows(&report->series, &report->finding, ret->windows);
	for (size_t i = 0; r == 0 && i < ret->window_count; i++)
		r = read_window(db, &report->filter, &ret->windows[i]);
	return r;
}

static int put(const struct options *options, const void *what, const struct page *page)
{
	return html_write(what, page->out);
}

static int show(const struct options *options, struct html_input *input)
{
	const struct report *report = input->report;
	struct trace trace = {0};
	struct grid grid = {.points = NULL};
	int r, status;

	r = take_trace(&report->series, &report->finding, &trace);
	if (r == 0)
		r = grid_predict(&report->diagnosis.whatif, &trace, &grid);
	input->grid = &grid;
	status = r < 0 ? cmd_fail_read(options, r)
		       : cmd_show(options, put, input, judge_status(report));
	grid_done(&grid);
	trace_done(&trace);
	return status;
}

int cmd_html(const struct options *options)
{
	struct report report;
	struct html_input input = {.report = &report};
	int status = judge_and_read(options, options->run, true, &report, read_input, &input);

	if (!status)
		status = show(options, &input);
	for (size_t i = 0; i < input.window_count; i++)
		free(input.windows[i].rows);
	free(input.stage_bars);
	judge_done(&report);
	return status;
}

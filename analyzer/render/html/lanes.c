/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.c - draws some batches one by one: when each was loaded, ready, waited for and used. */
#include <inttypes.h>
#include <math.h>

#include "analysis/statistics/clamp.h"
#include "render/html/put.h"

#define LANE        22
#define MOST_LANES  16
#define FEWEST      24
#define MOST        48
#define ROUNDS      6   /* batches in a window, for each worker */
#define LABEL_WIDTH 15
#define LABELS      106

static double stall_of(const struct batch_series *s, size_t begin, size_t count)
{
	double wait_ns = 0, all_ns = 0;

	for (size_t i = begin; i < begin + count; i++) {
		if (!(s->state[i] & SERIES_STEADY))
			return NAN;
		all_ns += (double)s->wait_ns[i] + (double)s->compute_ns[i];
		if (s->state[i] & SERIES_STARVED)
			wait_ns += (double)s->wait_ns[i];
	}
	return wait_ns / all_ns;
}

static size_t find_typical(const struct batch_series *s, double ratio, size_t count)
{
	size_t best = 0, step = count / 2, i;
	double nearest = INFINITY;

	/* A few hundred windows are enough to find one that is typical. */
	if (step < 1 + s->count / 400)
		step = 1 + s->count / 400;
	for (i = 0; i + count <= s->count; i += step) {
		double distance = fabs(stall_of(s, i, count) - ratio);

		if (distance < nearest) {
			nearest = distance;
			best = i;
		}
	}
	return best;
}

size_t html_choose_windows(const struct batch_series *s, const struct finding *f,
			   struct html_window *ret)
{
	size_t workers = s->workers > 0 ? (size_t)s->workers : 1;
	size_t prefetch = (size_t)series_prefetch(s);
	size_t count = workers * ROUNDS, ahead = workers * prefetch, longest = 0, i;

	if (!s->count || !s->wait_ns || !s->compute_ns)
		return 0;
	count = count < FEWEST ? FEWEST : count > MOST ? MOST : count;
	count = count > s->count ? s->count : count;
	ahead = ahead > MOST ? MOST : ahead;
	ret[0] = (struct html_window){find_typical(s, f->stall_ratio, count), count, ahead};
	for (i = 1; i < s->count; i++)
		if ((s->state[i] & SERIES_STEADY) &&
		    (!(s->state[longest] & SERIES_STEADY) || s->wait_ns[i] > s->wait_ns[longest]))
			longest = i;
	longest = longest < count / 2 ? 0 : longest - count / 2;
	longest = longest + count > s->count ? s->count - count : longest;
	ret[1] = (struct html_window){longest, count, ahead};
	/* A second window that mostly overlaps the first one is left out. */
	return longest < ret[0].begin + count / 2 && ret[0].begin < longest + count / 2 ? 1 : 2;
}

struct lanes {
	struct figure figure;
	const struct html_window *window;
	int64_t begin_ns, end_ns;
	int lane_count;
};

static bool is_known(int64_t ns)
{
	return ns != UNKNOWN;
}

static void put_bar(struct lanes *lanes, const char *class, double top, double height,
		    int64_t begin_ns, int64_t ns, int64_t number, const char *words)
{
	struct figure *f = &lanes->figure;
	double begin = (double)clamp_sub(begin_ns, lanes->begin_ns);
	double from = fmax(begin, 0), to = fmin(begin + (double)ns, f->x_high);
	double x = figure_x(f, from), width = figure_x(f, to) - x;

	if (!(to > from))
		return;
	html_put(f->html,
		 "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">"
		 "<title>batch %" PRId64 ": %s %s</title></rect>",
		 class, x, top, fmax(width - 0.5, 0.4), height, number, words,
		 UNITS_TIME((double)ns));
	/* Numbers are not written in waits, which are hatched. */
	if (number >= 0 && height > 10 && *class != 'w' &&
	    width > LABEL_WIDTH + 7 * (number > 99) + 7 * (number > 999))
		html_put(f->html,
			 "<text class=\"number%s\" x=\"%.1f\" y=\"%.1f\">%" PRId64 "</text>",
			 *class == 'c' ? " on" : "", x + 3, top + 12, number);
	html_put(f->html, "\n");
}

static void put_batch(struct lanes *lanes, const struct batch_record *b)
{
	const struct figure *f = &lanes->figure;
	if (is_known(b->begin_ns) && is_known(b->wait_ns)) {
		put_bar(lanes, "wait", f->top, LANE - 6, b->begin_ns, b->wait_ns, b->batch,
			"waited for");
		if (is_known(b->compute_ns))
			put_bar(lanes, "compute", f->top, LANE - 6,
				clamp_add(b->begin_ns, b->wait_ns), b->compute_ns, b->batch,
				"its step took");
	}
	if (!is_known(b->load_begin_ns) || !is_known(b->load_ns) || b->worker_id < 0 ||
	    b->worker_id >= lanes->lane_count)
		return;
	put_bar(lanes, "load", f->top + (double)(b->worker_id + 1) * LANE + 4, LANE - 8,
		b->load_begin_ns, b->load_ns, b->batch, "loaded in");
}

/* Draws lines from the end of each load to the time at which its batch is taken. */
static void put_ready(struct lanes *lanes)
{
	struct figure *f = &lanes->figure;

	html_put(f->html, "<path class=\"ready\" d=\"");
	for (size_t i = 0; i < lanes->window->row_count; i++) {
		const struct batch_record *b = &lanes->window->rows[i];
		double from, to;

		if (!is_known(b->load_begin_ns) || !is_known(b->load_ns) || b->worker_id < 0 ||
		    b->worker_id >= lanes->lane_count || !is_known(b->begin_ns) ||
		    !is_known(b->wait_ns))
			continue;
		from = (double)(b->load_begin_ns - lanes->begin_ns) + (double)b->load_ns;
		to = (double)(b->begin_ns - lanes->begin_ns) + (double)b->wait_ns;
		from = fmax(from, 0);
		to = fmin(to, f->x_high);
		if (to > from)
			html_put(f->html, "M%.1f %.1fH%.1f", figure_x(f, from),
				 f->top + (double)(b->worker_id + 2) * LANE - 2.5, figure_x(f, to));
	}
	html_put(f->html, "\"/>\n");
}

static void put_labels(struct lanes *lanes)
{
	struct figure *f = &lanes->figure;

	for (int i = 0; i <= lanes->lane_count; i++) {
		double y = f->top + i * LANE + 12 + (i ? 4 : 0);

		html_put(f->html, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">", f->left - 6,
			 y);
		if (i)
			html_put(f->html, "worker %d</text>", i - 1);
		else
			html_put(f->html, "training</text>");
	}
	html_put(f->html, "\n");
}

static void put_rows(struct html *html, const struct html_window *window)
{
	html_numbers(html, "", "#Epoch", "#Batch", "#Worker", "#Load", "#Wait", "#Step");
	for (size_t i = 0; i < window->row_count && i < window->count; i++) {
		const struct batch_record *b = &window->rows[i];
		const int64_t times[] = {b->load_ns, b->wait_ns, b->compute_ns};

		html_put(html, "<tr>");
		html_number(html, "%" PRId64, b->epoch);
		html_number(html, "%" PRId64, b->batch);
		if (is_known(b->worker_id))
			html_number(html, "%" PRId64, b->worker_id);
		else
			html_number(html, "–");
		for (size_t k = 0; k < 3; k++)
			html_number(html, "%s",
				    is_known(times[k]) ? UNITS_TIME((double)times[k]) : "–");
		html_put(html, "</tr>\n");
	}
	html_numbers_end(html);
}

/* Finds the times at which a window begins and ends. Returns false if they were not recorded. */
static bool find_span(const struct html_window *window, struct lanes *ret)
{
	const struct batch_record *rows = window->rows;
	int64_t end_ns = INT64_MIN;

	if (!window->row_count || !is_known(rows[0].begin_ns))
		return false;
	for (size_t i = 0; i < window->row_count && i < window->count; i++) {
		int64_t ns;

		if (is_known(rows[i].begin_ns) && is_known(rows[i].wait_ns) &&
		    !__builtin_add_overflow(rows[i].begin_ns, rows[i].wait_ns, &ns) &&
		    !(is_known(rows[i].compute_ns) &&
		      __builtin_add_overflow(ns, rows[i].compute_ns, &ns)) &&
		    ns > end_ns)
			end_ns = ns;
	}
	ret->begin_ns = rows[0].begin_ns;
	return end_ns > ret->begin_ns &&
	       !__builtin_sub_overflow(end_ns, ret->begin_ns, &ret->end_ns);
}

static void put_window(struct html *html, const struct html_window *window, const char *title,
		       int workers)
{
	struct lanes lanes = {.window = window,
			      .lane_count = workers < MOST_LANES ? workers : MOST_LANES};

	if (!find_span(window, &lanes))
		return;
	html_put(html, "<h3>%s</h3>\n<figure>\n", title);
	figure_begin(html, &lanes.figure, "plot lanes", (lanes.lane_count + 1) * LANE + 6, title,
		     "%zu batches over time: the training on top, a row for each worker below.",
		     window->count);
	lanes.figure.left = LABELS;
	lanes.figure.x_high = (double)lanes.end_ns;
	put_labels(&lanes);
	for (size_t i = 0; i < window->row_count; i++)
		put_batch(&lanes, &window->rows[i]);
	put_ready(&lanes);
	figure_x_times(&lanes.figure, "since the first of these batches was asked for");
	figure_end(&lanes.figure);
	html_put(html, "</figure>\n");
	put_rows(html, window);
}

/* Returns true if loads were recorded; imported runs, and runs without patches, have none. */
static bool has_loads(const struct html_input *input)
{
	for (size_t i = 0; i < input->window_count; i++)
		for (size_t j = 0; j < input->windows[i].row_count; j++)
			if (is_known(input->windows[i].rows[j].load_begin_ns))
				return true;
	return false;
}

void html_lanes(struct html *html)
{
	static const char *const titles[HTML_WINDOWS] = {"A typical stretch",
							 "Around the longest wait"};
	int32_t workers = html->report->series.workers;

	if (!html->input->window_count || !has_loads(html->input))
		return;
	html_section(html, "lanes", "What the workers did");
	figure_keys(html, {"load", "loading"}, {"queue", "ready, not yet taken"},
		    {"wait", "the training waits"}, {"compute", "its step"});
	if (workers > MOST_LANES)
		html_paragraph(html, "quiet", "The first %d of %d workers.", MOST_LANES,
			       (int)workers);
	for (size_t i = 0; i < html->input->window_count; i++)
		put_window(html, &html->input->windows[i], titles[i], workers > 0 ? workers : 0);
	html_section_end(html);
}

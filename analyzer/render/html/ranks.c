/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - writes a job's page: its verdict, and a row and a small picture of each rank. */
#include "render/jobs/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "render/html/put.h"

#define ROW       40
#define BARS      32
#define LEFT      116
#define RIGHT     640
#define MOST_ROWS 1000

static void put_bars(struct figure *f, const struct rank_row *row, bool waits, double high_ns)
{
	for (size_t i = 0; i < row->bar_count; i++) {
		const struct bar *bar = &row->bars[i];
		double x = figure_x(f, (double)bar->begin), x2 = figure_x(f, (double)bar->end);
		double compute = fmin(bar->compute_ns / high_ns, 1) * BARS;
		double step = fmin((bar->compute_ns + bar->wait_ns) / high_ns, 1) * BARS;
		double from = waits ? compute : 0, to = waits ? step : compute;

		figure_bar(f, x, x2, f->bottom - from, f->bottom - to);
	}
}

static void put_rank(struct figure *f, const struct ranks *ranks, size_t i, double high_ns)
{
	const struct rank_row *row = &ranks->rows[i];
	char share[UNITS_MAX];

	html_put(f->html,
		 "<g class=\"axis\"><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">rank %" PRId64
		 "%s</text><path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>",
		 LEFT - 8, f->bottom - 4, row->rank, ranks->blames[i].is_culprit ? " *" : "",
		 f->left, f->bottom, f->right);
	html_put(f->html, "<text class=\"value\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">",
		 FIGURE_RIGHT, f->bottom - 4);
	html_say(f->html, "%s",
		 isnan(row->finding.stall_ratio) ? "–"
						 : units_share(share, row->finding.stall_ratio));
	html_put(f->html, "</text></g>\n<path class=\"compute\" d=\"");
	put_bars(f, row, false, high_ns);
	html_put(f->html, "\"/><path class=\"wait\" d=\"");
	put_bars(f, row, true, high_ns);
	html_put(f->html, "\"/>\n");
}

/* Finds the scale that all ranks' pictures share; 0: nothing to draw. Returns 0 or -ENOMEM. */
static int find_scale(const struct ranks *ranks, const size_t *order, size_t shown, double *ret_ns)
{
	double *steps = malloc((shown * HTML_RANK_BARS + 1) * sizeof(*steps));
	size_t count = 0, i, k;

	*ret_ns = 0;
	if (!steps)
		return -ENOMEM;
	for (i = 0; i < shown; i++) {
		const struct rank_row *row = &ranks->rows[order[i]];

		for (k = 0; k < row->bar_count; k++)
			if (!isnan(row->bars[k].wait_ns))
				steps[count++] = row->bars[k].wait_ns + row->bars[k].compute_ns;
	}
	if (count)
		*ret_ns = figure_scale(steps, count);
	free(steps);
	return 0;
}

static int put_pictures(struct html *html, const struct ranks *ranks, const size_t *order)
{
	size_t shown = ranks->count < RANKS_MOST_ROWS ? ranks->count : RANKS_MOST_ROWS, i;
	struct figure f;
	double high_ns;
	int r = find_scale(ranks, order, shown, &high_ns);

	if (r < 0 || !(high_ns > 0))
		return r;
	html_section(html, "steps", "Step by step");
	html_put(html, "<figure>\n");
	figure_begin(html, &f, "plot", (double)(shown * ROW), "Wait and step of each rank",
		     "A row for each of %zu ranks, its batches from left to right. The lower part "
		     "of a bar is the step, the upper part the wait before it; at the right, the "
		     "rank's share of time spent waiting for data.",
		     shown);
	f.left = LEFT;
	f.right = RIGHT;
	for (i = 0; i < shown; i++) {
		const struct rank_row *row = &ranks->rows[order[i]];

		if (row->bar_count)
			f.x_high = fmax(f.x_high, (double)row->bars[row->bar_count - 1].end);
	}
	for (i = 0; i < shown; i++) {
		f.bottom = f.top + (double)((i + 1) * ROW);
		put_rank(&f, ranks, order[i], high_ns);
	}
	figure_x_numbers(&f, "batch");
	figure_end(&f);
	figure_keys(html, {"compute", "step"}, {"wait", "waiting for data"});
	html_put(html, "<figcaption>");
	html_say(html,
		 "Time of a batch, its wait and its step%s, to one scale: a full row is %s. At the "
		 "right: the rank's stall. %s",
		 shown < ranks->count ? " in the ranks that are to blame for most" : "",
		 UNITS_TIME(high_ns), FIGURE_SCALE_WORDS);
	html_put(html, "</figcaption>\n</figure>\n");
	html_section_end(html);
	return 0;
}

static void put_foot(struct html *html)
{
	html_foot(html);
	html_put(html, "</body>\n</html>\n");
}

static int put_page(struct html *html, const struct ranks *ranks, const size_t *order)
{
	int r;

	html_head(html, false, ranks->path);
	html_run(html, NULL);
	html_heading(html, ranks->job.verdict);
	html_answer(html, ranks->job.verdict, "");
	html_items(html, RANKS_LIMITS, "quiet");
	html_put(html, "</header>\n\n");
	html_section_of(html, "why", "Why, and what to do", RANKS_WHY);
	r = put_pictures(html, ranks, order);
	html_section_of(html, "ranks", "Rank by rank", "ranks");
	html_put(html, "<p class=\"quiet\">Of one rank there is more to see, first of ");
	html_path(html, ranks->rows[ranks_worst(ranks)].path);
	html_put(html, ": <code>dlprof-report html RUN.db -o RUN.html</code></p>\n");
	put_foot(html);
	return r;
}

int html_write_ranks(const struct ranks *ranks, FILE *out)
{
	struct outline outline;
	struct html html = {.out = out, .outline = &outline};
	size_t *order = malloc(ranks->count * sizeof(*order));
	int r = ranks_outline(ranks, MOST_ROWS, true, &outline);

	if (r == 0 && order) {
		ranks_order(ranks, order);
		r = put_page(&html, ranks, order);
	}
	outline_done(&outline);
	free(order);
	return order ? r : -ENOMEM;
}

static int put_job(struct html *html, const struct ranks *job, size_t number)
{
	struct outline outline;
	char text[RANKS_ID];
	int r = ranks_outline(job, 0, false, &outline);

	html->outline = &outline;
	if (r == 0) {
		html_put(html, "<section id=\"job%zu\">\n<h2>Job ", number);
		html_text(html, ranks_id_words(job, text));
		html_put(html, "</h2>\n");
		html_answer(html, job->job.verdict, "");
		html_items(html, RANKS_LIMITS, "quiet");
		html_section_end(html);
	}
	outline_done(&outline);
	return r;
}

int html_write_jobs(const char *path, const struct ranks *jobs, size_t count, FILE *out)
{
	struct outline outline;
	struct html html = {.out = out, .outline = &outline};
	int r = jobs_outline(path, jobs, count, &outline);

	if (r == 0) {
		html_head(&html, false, path);
		html_run(&html, NULL);
		html_put(&html, "<h1>Jobs</h1>\n</header>\n\n");
		html_section_of(&html, "jobs", "Job by job", "jobs");
	}
	outline_done(&outline);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = put_job(&html, &jobs[i], i + 1);
	html_put(&html, "<p class=\"quiet\">Of one job there is more to see: "
			"<code>dlprof-report html --job ID FOLDER -o JOB.html</code></p>\n");
	put_foot(&html);
	return r;
}

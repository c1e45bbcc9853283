/* SPDX-License-Identifier: Apache-2.0 */
/* ranks.c - a page of the ranks of one job: its verdict, a row and a small picture of each. */
#include "render/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "render/html/figure.h"
#include "render/html/sections.h"
#include "render/verdict.h"

#define ROW       40 /* of the picture */
#define BARS      32 /* the highest in it */
#define LEFT      116
#define RIGHT     640
#define MOST_ROWS 1000

/* What it loses, and to whom. */
static void put_answer(struct html *html, const struct ranks *ranks)
{
	char text[600], sentence[VERDICT_SENTENCE];

	if (ranks->job.verdict == STALL_VERDICT_INCOMPLETE)
		html_paragraph(html, "answer", "No verdict: no rank has batches to judge by.");
	else
		html_answer(html, ranks_verdict_words(&ranks->job, sentence), "");
	ranks_groups_words(ranks, text, sizeof(text));
	if (*text)
		html_paragraph(html, "", "%s", text);
	ranks_culprit_words(ranks, text, sizeof(text));
	if (*text)
		html_paragraph(html, "", "%s", text);
}

/* How far it can be believed. */
static void put_limits(struct html *html, const struct ranks *ranks)
{
	char text[600];

	ranks_missing_words(ranks, text, sizeof(text));
	if (*text)
		html_paragraph(html, "", "Missing: %s. No database of theirs is here.", text);
	ranks_collectives_words(ranks, text, sizeof(text));
	if (*text)
		html_paragraph(html, "", "Collectives: %s.", text);
	html_paragraph(html, "quiet", "The ranks are aligned %s.",
		       ranks_alignment_words(&ranks->job, text));
	for (size_t i = 0; ranks_doubt_words(ranks, &i, text);)
		html_paragraph(html, "quiet", "Less sure: %s.", text);
}

static void put_verdict(struct html *html, const struct ranks *ranks)
{
	const struct ranks_spread spread = ranks_spread(ranks);
	const struct rank_finding *job = &ranks->job;
	char least[UNITS_MAX], median[UNITS_MAX], most[UNITS_MAX];
	char text[600];

	ranks_count_words(ranks, text, sizeof(text));
	html_put(html, "<header>\n<p class=\"run\">dlprof report of <b>%s</b>", text);
	if (ranks->job_id) {
		html_put(html, " of job <b>");
		html_text(html, jobs_id_words(ranks, text));
		html_put(html, "</b>");
	}
	html_put(html, " of <b>");
	html_text(html, ranks->path);
	html_put(html, "</b></p>\n");
	html_heading(html, job->verdict);
	put_answer(html, ranks);
	html_put(html, "<dl class=\"facts\">");
	html_fact(html, "Ranks", units_count(text, (int64_t)ranks->count));
	html_fact(html, "Hosts", units_count(text, (int64_t)ranks_host_count(ranks)));
	html_fact(html, "Steps", units_count(text, (int64_t)job->step_count));
	if (!isnan(spread.median)) {
		snprintf(text, sizeof(text), "%s to %s, median %s",
			 units_share(least, spread.least), units_share(most, spread.most),
			 units_share(median, spread.median));
		html_fact(html, "Waiting, rank by rank", text);
	}
	html_put(html, "</dl>\n");
	put_limits(html, ranks);
	html_put(html, "</header>\n\n");
}

static void put_row(struct html *html, const struct ranks *ranks, size_t i)
{
	const struct rank_row *row = &ranks->rows[i];
	const struct finding *f = &row->finding;
	double blame = ranks_blame_share(ranks, i);
	char text[UNITS_MAX];

	html_put(html, "<tr>");
	html_number(html, "%" PRId64 "%s", row->rank, ranks->blames[i].is_culprit ? " *" : "");
	html_cell(html, "%s", row->host ? row->host : "–");
	html_number(html, "%s", units_count(text, (int64_t)f->batch_count));
	html_number(html, "%s",
		    f->own.count ? html_time(text, f->own.time_ns / (double)f->own.count) : "–");
	html_number(html, "%s", isnan(f->stall_ratio) ? "–" : units_share(text, f->stall_ratio));
	html_number(html, "%s", isnan(blame) ? "–" : units_share(text, blame));
	html_cell(html, "%s %s%s", verdict_of(f->verdict)->sign, verdict_of(f->verdict)->word,
		  row->live ? ", still recording" : "");
	html_put(html, "<td>");
	html_path(html, row->path);
	html_put(html, "</td></tr>\n");
}

static void put_table(struct html *html, const struct ranks *ranks, const size_t *order)
{
	html_section(html, "ranks", "Rank by rank");
	html_table(html,
		   ranks->count > RANKS_MOST_ROWS ? "Those that are to blame for most come first"
						  : "",
		   (const char *const[]){"#Rank", "Host", "#Batches", "#Step", "#Stall",
					 "#To blame", "Input-bound", "Run", NULL});
	for (size_t i = 0; i < ranks->count && i < MOST_ROWS; i++)
		put_row(html, ranks, order[i]);
	html_table_end(html);
	if (ranks->count > MOST_ROWS)
		html_paragraph(html, "quiet", "And %zu more; --json has all.",
			       ranks->count - MOST_ROWS);
	html_paragraph(html, "quiet",
		       "To blame: the share of the lost time in which the rank waited longest.%s",
		       ranks->job.culprit_count > 1 ? " * the culprits."
		       : ranks->job.culprit_count   ? " * the culprit."
						    : "");
	html_section_end(html);
}

/* Compute from the line of the rank upwards, and the wait on top of it. */
static void put_bars(struct figure *f, const struct rank_row *row, bool waits, double high_ns)
{
	for (size_t i = 0; i < row->bar_count; i++) {
		const struct bar *bar = &row->bars[i];
		double x = figure_x(f, (double)bar->begin), x2 = figure_x(f, (double)bar->end);
		double compute = fmin(bar->compute_ns / high_ns, 1) * BARS;
		double step = fmin((bar->compute_ns + bar->wait_ns) / high_ns, 1) * BARS;
		double from = waits ? compute : 0, to = waits ? step : compute;

		if (to - from > 0.05) /* not where they are not known */
			html_put(f->html, "M%.1f %.1fV%.1fH%.1fV%.1fz", x, f->bottom - from,
				 f->bottom - to, x2 - (x2 - x > 3 ? 0.6 : 0), f->bottom - from);
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

/* One scale for all: 0 where there is nothing to draw, or -ENOMEM. */
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
	const struct figure_key keys[] = {{"compute", "compute: the rest of the step"},
					  {"wait", "waiting for data"},
					  {NULL, NULL}};
	char time[UNITS_MAX];
	struct figure f;
	double high_ns;
	int r = find_scale(ranks, order, shown, &high_ns);

	if (r < 0 || !(high_ns > 0))
		return r;
	html_section(html, "steps", "Step by step");
	html_put(html, "<figure>\n");
	figure_begin(html, &f, "plot", (double)(shown * ROW), "Wait and compute of each rank",
		     "A row for each of %zu ranks, its batches from left to right. The lower part "
		     "of a bar is compute, the upper part the wait before it; at the right, the "
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
	figure_keys(html, keys);
	html_put(html, "<figcaption>");
	html_say(html,
		 "Time a step took%s, to one scale: a full row is %s. At the right: the "
		 "rank's stall. %s",
		 shown < ranks->count ? " in the ranks that are to blame for most" : "",
		 html_time(time, high_ns), FIGURE_SCALE_WORDS);
	html_put(html, "</figcaption>\n</figure>\n");
	html_section_end(html);
	return 0;
}

int html_write_ranks(const struct ranks *ranks, FILE *out)
{
	struct html html = {.out = out};
	size_t *order = malloc(ranks->count * sizeof(*order));
	int r;

	if (!order)
		return -ENOMEM;
	ranks_order(ranks, order);
	html_head(&html, false, ranks->path);
	put_verdict(&html, ranks);
	r = put_pictures(&html, ranks, order);
	put_table(&html, ranks, order);
	html_put(&html, "<p class=\"quiet\">Of one rank there is more to see, first of ");
	html_path(&html, ranks->rows[ranks_worst(ranks)].path);
	html_put(&html, ": <code>dlprof-report html RUN.db -o RUN.html</code></p>\n");
	html_foot(&html);
	html_put(&html, "</body>\n</html>\n");
	free(order);
	return r;
}

static void put_job_row(struct html *html, const struct ranks *ranks)
{
	const struct rank_finding *job = &ranks->job;
	const struct verdict *verdict = verdict_of(job->verdict);
	char text[80];

	html_put(html, "<tr>");
	html_cell(html, "%s", jobs_id_words(ranks, text));
	html_number(html, "%s", isnan(job->stall_ratio) ? "–" : UNITS_SHARE(job->stall_ratio));
	html_cell(html, "%s %s", verdict->sign, verdict->word);
	if (job->culprit < 0)
		html_number(html, "–");
	else
		html_number(html, "%" PRId64, ranks->rows[job->culprit].rank);
	ranks_count_words(ranks, text, sizeof(text));
	html_cell(html, "%s", text);
	html_put(html, "</tr>\n");
}

int html_write_jobs(const char *path, const struct ranks *jobs, size_t count, FILE *out)
{
	struct html html = {.out = out};
	char text[JOBS_ID];

	html_head(&html, false, path);
	html_put(&html, "<header>\n<p class=\"run\">dlprof report of <b>%zu jobs</b> of <b>",
		 count);
	html_text(&html, path);
	html_put(&html, "</b></p>\n<h1>Jobs</h1>\n</header>\n\n");
	html_section(&html, "jobs", "Job by job");
	html_table(&html, "",
		   (const char *const[]){"Job (attempt)", "#Stall", "Input-bound", "#Culprit",
					 "Ranks", NULL});
	for (size_t i = 0; i < count; i++)
		put_job_row(&html, &jobs[i]);
	html_table_end(&html);
	html_paragraph(&html, "quiet",
		       "Culprit: the rank that waits for data while the others wait for it.");
	html_section_end(&html);
	for (size_t i = 0; i < count; i++) {
		html_put(&html, "<section id=\"job%zu\">\n<h2>Job ", i + 1);
		html_text(&html, jobs_id_words(&jobs[i], text));
		html_put(&html, "</h2>\n");
		put_answer(&html, &jobs[i]);
		put_limits(&html, &jobs[i]);
		html_section_end(&html);
	}
	html_put(&html, "<p class=\"quiet\">Of one job there is more to see: "
			"<code>dlprof-report html --job ID FOLDER -o JOB.html</code></p>\n");
	html_foot(&html);
	html_put(&html, "</body>\n</html>\n");
	return 0;
}

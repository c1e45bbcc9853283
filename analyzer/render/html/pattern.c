/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - shows whether stalls have a period: evidence for each period, and waits by phase. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "render/html/put.h"

#define HEIGHT       150
#define FEWEST_SHOWN 24
#define MOST_TICKS   32
#define MOST_PHASES  128
#define MOST_DOTS    1500
#define PHASE_HEIGHT 190
#define TOP_QUANTILE 0.995

struct rhythm {
	const struct period *period;
	const float *values;
	const char *name;
};

static struct rhythm find_rhythm(const struct report *report)
{
	const struct diagnosis *d = &report->diagnosis;

	if (d->steps_only)
		return (struct rhythm){&d->compute, report->series.step_ns, "long steps"};
	return (struct rhythm){&d->wait, report->series.wait_ns, "stalls"};
}

static double evidence(const struct period *period, size_t batches)
{
	return fmax(0, -(double)period->log_p_of[batches] / log(10));
}

/* Returns the longest period to show: past 4 x workers and 2 x the found one, if tested. */
static size_t last_shown(const struct period *period, int32_t workers)
{
	size_t last = PERIOD_MOST, wanted = FEWEST_SHOWN;

	while (last > 2 && !(period->log_p_of[last] < 0))
		last--;
	if (workers > 0 && (size_t)workers * 4 + 2 > wanted)
		wanted = (size_t)workers * 4 + 2;
	if (period->batches > 0 && period->batches <= PERIOD_MOST &&
	    (size_t)period->batches * 2 + 2 > wanted)
		wanted = (size_t)period->batches * 2 + 2;
	return wanted < last ? wanted : last;
}

static void put_workers(struct figure *f, size_t last, int32_t workers)
{
	if (workers < 2 || (size_t)workers > last)
		return;
	html_put(f->html, "<g class=\"workers\">");
	for (size_t i = 1; i <= 4 && i * (size_t)workers <= last; i++) {
		double x = figure_x(f, (double)(i * (size_t)workers));

		html_put(f->html, "<path d=\"M%.1f %.1fl-4 6h8z\"/>", x, f->bottom + 1);
		if (i == 1)
			html_put(f->html,
				 "<path class=\"line\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" "
				 "y=\"%.1f\">%d workers</text>",
				 x, f->bottom, f->top, x + 5, f->top + 4, workers);
	}
	html_put(f->html, "</g>\n");
}

static void put_period(struct html *html, const struct rhythm *rhythm)
{
	const struct period *period = rhythm->period;
	int32_t workers = html->report->series.workers;
	size_t last = last_shown(period, workers), i;
	double limit = -log10(PERIOD_ALPHA), most = limit * 2;
	struct figure f;

	for (i = 2; i <= last; i++)
		most = fmax(most, evidence(period, i));
	html_put(html, "<figure id=\"period\">\n");
	figure_begin(html, &f, "plot", HEIGHT, "Evidence for every period",
		     "How unlikely it would be by chance that the %s differ so much between the "
		     "places of a period, for periods of 2 to %zu batches; %s.",
		     rhythm->name, last, period->batches ? "one stands out" : "none stands out");
	f.x_low = 1;
	f.x_high = (double)last + 1;
	f.y_high = most * 1.05;
	figure_y_axis(&f, false);
	put_workers(&f, last, workers);
	html_put(html, "<path class=\"stem\" d=\"");
	for (i = 2; i <= last; i++)
		if (evidence(period, i) > 0)
			html_put(html, "M%.1f %.1fV%.1f", figure_x(&f, (double)i), f.bottom,
				 figure_y(&f, evidence(period, i)));
	html_put(html, "\"/>\n");
	if (period->batches && (size_t)period->batches <= last) {
		double x = figure_x(&f, (double)period->batches);
		double y = figure_y(&f, evidence(period, (size_t)period->batches));

		html_put(html,
			 "<path class=\"stem found\" d=\"M%.1f %.1fV%.1f\"/>"
			 "<circle class=\"found\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>",
			 x, f.bottom, y, x, y);
	}
	html_put(html, "<path class=\"limit\" d=\"M%.1f %.1fH%.1f\"/>\n", f.left,
		 figure_y(&f, limit), f.right);
	figure_x_numbers(&f, "period, batches");
	figure_end(&f);
	figure_keys(html, {"found", period->batches ? "the period" : NULL});
	html_put(html,
		 "<figcaption>Evidence, −log₁₀ p after all corrections; above the dashed line "
		 "p &lt; %g.%s</figcaption>\n</figure>\n",
		 PERIOD_ALPHA,
		 workers > 1 ? " Triangles: the number of workers and its multiples." : "");
	html_numbers(html, "", "#Period, batches", "#−log₁₀ p");
	for (i = 2; i <= last; i++)
		if (evidence(period, i) > 0)
			html_put(html,
				 "<tr><td class=\"n\">%zu</td><td class=\"n\">%.1f</td></tr>\n", i,
				 evidence(period, i));
	html_numbers_end(html);
}

struct dot {
	uint32_t phase;
	float ns;
};

struct phases {
	struct dot *dots;
	size_t count;
	double mean_ns[MOST_PHASES];
	size_t counts[MOST_PHASES];
	double most_ns;
};

static int by_length(const void *a, const void *b)
{
	const struct dot *left = a, *right = b;

	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static int collect(const struct batch_series *s, const float *values, size_t modulus,
		   struct phases *ret)
{
	struct series_place place = SERIES_BEGIN;

	*ret = (struct phases){.dots = malloc((s->count + 1) * sizeof(*ret->dots))};
	if (!ret->dots)
		return -ENOMEM;
	while (series_next(s, &place)) {
		float ns = values[place.i];
		size_t phase = (size_t)place.batch % modulus;

		if (!(ns >= 0) || place.batch < 0)
			continue;
		ret->dots[ret->count++] = (struct dot){(uint32_t)phase, ns};
		ret->mean_ns[phase] += (double)ns;
		ret->counts[phase]++;
	}
	for (size_t i = 0; i < modulus; i++)
		ret->mean_ns[i] /= (double)ret->counts[i];
	/* Sort the dots by length: then each k-th dot is a fair sample, and quantiles are easy. */
	qsort(ret->dots, ret->count, sizeof(*ret->dots), by_length);
	if (ret->count)
		ret->most_ns =
			(double)ret->dots[(size_t)((double)(ret->count - 1) * TOP_QUANTILE)].ns;
	for (size_t i = 0; i < modulus; i++)
		if (ret->counts[i])
			ret->most_ns = fmax(ret->most_ns, ret->mean_ns[i]);
	return 0;
}

static void put_dots(struct figure *f, const struct phases *phases)
{
	size_t shown = phases->count < MOST_DOTS ? phases->count : MOST_DOTS, i;
	double slot = figure_x(f, 1) - figure_x(f, 0), spread = slot * 0.7;

	html_put(f->html, "<path class=\"dots\" d=\"");
	for (i = 0; i < shown; i++) {
		const struct dot *dot =
			&phases->dots[shown > 1 ? i * (phases->count - 1) / (shown - 1) : 0];
		/* Multiples of the golden ratio spread the dots sideways, but add no period. */
		double beside = (fmod((double)i * 0.61803398875, 1) - 0.5) * spread;

		html_put(f->html, "M%.1f %.1fh0", figure_x(f, dot->phase) + beside,
			 figure_y(f, (double)dot->ns));
	}
	html_put(f->html, "\"/>\n");
}

static void put_phase_figure(struct html *html, const struct phases *phases, size_t modulus,
			     const char *what)
{
	size_t every = (modulus + MOST_TICKS - 1) / MOST_TICKS, i;
	struct figure f;

	html_put(html, "<figure id=\"residue\">\n");
	figure_begin(
		html, &f, "plot", PHASE_HEIGHT, "Batches by their place",
		"The %s of each batch over its number modulo %zu, its place; a dot is a batch, a "
		"line the mean of the batches at a place.",
		what, modulus);
	f.x_low = -0.5;
	f.x_high = (double)modulus - 0.5;
	f.y_high = phases->most_ns > 0 ? phases->most_ns * 1.08 : 1;
	figure_y_axis(&f, true);
	put_dots(&f, phases);
	html_put(html, "<path class=\"mean\" d=\"");
	for (i = 0; i < modulus; i++)
		if (phases->counts[i])
			html_put(html, "M%.1f %.1fH%.1f", figure_x(&f, (double)i - 0.38),
				 figure_y(&f, phases->mean_ns[i]), figure_x(&f, (double)i + 0.38));
	html_put(html, "\"/>\n<g class=\"axis\"><path class=\"base\" d=\"M%.1f %.1fH%.1f\"/>",
		 f.left, f.bottom, f.right);
	for (i = 0; i < modulus; i += every)
		html_put(html, "<text%s x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%zu</text>",
			 modulus > 8 && i / every % 2 ? " class=\"odd\"" : "",
			 figure_x(&f, (double)i), f.bottom + 18, i);
	html_put(html,
		 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">batch modulo %zu</text></g>\n",
		 f.right, f.bottom + 38, modulus);
	figure_end(&f);
}

static void put_phases(struct html *html, const struct phases *phases, size_t modulus,
		       const struct rhythm *rhythm)
{
	const struct batch_series *s = &html->report->series;
	const char *what = html->report->diagnosis.steps_only ? "step" : "wait";
	bool by_worker = s->workers > 1 && modulus == (size_t)s->workers && s->in_order == 1;

	put_phase_figure(html, phases, modulus, what);
	figure_keys(html, {"dot", "a batch"}, {"mean", "mean of all batches at this place"});
	html_put(html, "<figcaption>");
	html_say(html,
		 "The %s of a batch over its place: its number in the epoch, modulo %zu%s.%s%s",
		 what, modulus, rhythm->period->batches ? " (the period)" : " (the workers)",
		 by_worker ? " In order, each place is one worker." : "",
		 phases->count > MOST_DOTS ? " The dots are an even sample, the longest among them."
					   : "");
	html_put(html, "</figcaption>\n</figure>\n");
	html_numbers(html, "", "#Place", "#Batches", "#Mean");
	for (size_t i = 0; i < modulus; i++) {
		html_put(html, "<tr>");
		html_number(html, "%zu", i);
		html_number(html, "%zu", phases->counts[i]);
		html_number(html, "%s", UNITS_TIME(phases->mean_ns[i]));
		html_put(html, "</tr>\n");
	}
	html_numbers_end(html);
}

int html_pattern(struct html *html)
{
	const struct batch_series *s = &html->report->series;
	struct rhythm rhythm = find_rhythm(html->report);
	size_t modulus = rhythm.period->batches ? (size_t)rhythm.period->batches
			 : s->workers > 1       ? (size_t)s->workers
						: 0;
	struct phases phases;
	int r;

	if (!s->count || !rhythm.values)
		return 0;
	html_section(html, "pattern", "Does it come in a rhythm?");
	html_blocks(html, "pattern");
	if (rhythm.period->tested && last_shown(rhythm.period, s->workers) > 2)
		put_period(html, &rhythm);
	if (modulus >= 2 && modulus <= MOST_PHASES) {
		r = collect(s, rhythm.values, modulus, &phases);
		if (r < 0)
			return r;
		if (phases.count)
			put_phases(html, &phases, modulus, &rhythm);
		free(phases.dots);
	}
	html_section_end(html);
	return 0;
}

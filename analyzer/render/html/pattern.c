/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.c - do the stalls come in a rhythm? The waits by their place in the period.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/html/figure.h"
#include "render/html/sections.h"

#define MOST_TICKS   32 /* phases that are labelled */
#define MOST_PHASES  128
#define MOST_DOTS    1500
#define PHASE_HEIGHT 190
#define TOP_QUANTILE 0.995

/* What the rhythm is of: stalls, or long steps where nothing else is known. */
struct rhythm {
	const struct period *period;
	const float *values;
};

static struct rhythm find_rhythm(const struct report *report)
{
	const struct diagnosis *d = &report->diagnosis;

	if (d->steps_only)
		return (struct rhythm){&d->compute, report->series.step_ns};
	return (struct rhythm){&d->wait, report->series.wait_ns};
}

/* A batch with a time: where it stands in the period, and how long. */
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
	/* Sorted, every so many of them are a sample of all lengths, and the longest come last. */
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
		/* Side by side in an order that is regular to nothing: the golden ratio's. */
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
		html, &f, "plot", PHASE_HEIGHT, "Waits by place in the period",
		"The %s of each batch over its number modulo %zu; a dot is a batch, a line the "
		"mean of the place.",
		what, modulus);
	f.x_low = -0.5;
	f.x_high = (double)modulus - 0.5;
	f.y_high = phases->most_ns > 0 ? phases->most_ns * 1.08 : 1;
	figure_y_times(&f);
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
	static const struct figure_key keys[] = {
		{"dot", "a batch"}, {"mean", "mean of the place"}, {0}};

	put_phase_figure(html, phases, modulus, what);
	figure_keys(html, keys);
	html_put(html, "<figcaption>");
	html_say(html, "The %s of a batch over its number in the epoch, modulo %zu%s.%s%s", what,
		 modulus, rhythm->period->batches ? " (the period)" : " (the workers)",
		 by_worker ? " In order, each place is one worker." : "",
		 phases->count > MOST_DOTS ? " The dots are an even sample, the longest among them."
					   : "");
	html_put(html, "</figcaption>\n</figure>\n");
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

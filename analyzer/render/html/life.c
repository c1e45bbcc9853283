/* SPDX-License-Identifier: Apache-2.0 */
/* life.c - draws what happens to a batch, from opening files to the end of its step, on average. */
#include <math.h>
#include <string.h>

#include "render/html/put.h"

#define ROW        28
#define LEFT       176
#define RIGHT      596
#define MOST_STAGE 14

struct stage {
	const char *name, *class;
	double ns;	  /* NAN: not observed */
	const char *note; /* words for a time that was not observed; NULL: "not observed" */
};

/* Returns the mean time of transforms in a load; NAN: unknown, as with several loaders. */
static double transform_ns(const struct report *report)
{
	const struct inside *inside = &report->inside;
	double ns = 0;

	if (report->loader_count != 1 || inside->loads.load_count < 1 || !inside->steps.count ||
	    inside->steps.all_count > inside->steps.count)
		return NAN;
	for (size_t i = 0; i < inside->steps.count; i++)
		if (strcmp(inside->steps.items[i].detail, "dataset") != 0)
			ns += (double)inside->steps.items[i].ns;
	return ns / (double)inside->loads.load_count;
}

#define LOAD(column) report_load_mean(report, totals->column)

/* Lists the stages that this run has. Returns how many. */
static size_t find_stages(const struct html *html, struct stage ret[MOST_STAGE])
{
	const struct report *report = html->report;
	const struct load_totals *totals = &report->totals;
	const struct gpu_means *device = &html->input->device;
	const struct series_fetches *fetches = &report->series.fetches;
	const struct finding *f = &report->finding;
	const double sampling_ns = f->account.part_ns[ACCOUNT_SAMPLING];
	const double transform = transform_ns(report), other = LOAD(other_ns);
	/* Imported tables have the time of a load, but not its parts. */
	const bool has_parts = totals->open_ns != UNKNOWN || totals->read_ns != UNKNOWN ||
			       totals->decode_ns != UNKNOWN || totals->collate_ns != UNKNOWN;
	const bool is_split = has_parts && transform > 0 && transform <= other;
	const bool has_workers = report->series.workers != 0;
	const struct {
		bool is_shown;
		struct stage stage;
	} all[MOST_STAGE] = {
		{sampling_ns > 0,
		 {"choose samples", "short", sampling_ns / (double)f->account.count}},
		{!has_parts, {"load", "load", LOAD(load_ns)}},
		{has_parts, {"open files", "open", LOAD(open_ns)}},
		{has_parts, {"read", "read", LOAD(read_ns)}},
		{has_parts, {"decode", "decode", LOAD(decode_ns),
			     "not observed: part of the dataset's code"}},
		{is_split, {"transform", "transform", transform}},
		{has_parts, {"dataset's code", "other", is_split ? other - transform : other}},
		{has_parts, {"collate", "collate", LOAD(collate_ns)}},
		{has_workers, {"hand-over", "transfer", LOAD(transfer_ns)}},
		{has_workers && fetches->count > 0,
		 {"of it descriptors", "busy", fetches->ns / fetches->batches}},
		{has_workers, {"ready, in queue", "queue", LOAD(queue_ns)}},
		{device->h2d_ns != UNKNOWN,
		 {"copy to the GPU", "copy", query_known(device->h2d_ns)}},
		{report->series.compute_ns,
		 {"step", "compute", f->compute_all_ns / (double)f->batch_count}},
		{device->gpu_busy_ns != UNKNOWN,
		 {"of it GPU busy", "busy", query_known(device->gpu_busy_ns)}},
	};
	size_t count = 0;

	for (size_t i = 0; i < MOST_STAGE; i++)
		if (all[i].is_shown)
			ret[count++] = all[i].stage;
	return count;
}

static bool is_within(const struct stage *stage)
{
	return strcmp(stage->class, "busy") == 0;
}

static void put_stages(struct html *html, const struct stage *stages, size_t count)
{
	double all_ns = 0, begin_ns = 0, last_ns = 0;
	struct figure f;

	for (size_t i = 0; i < count; i++)
		if (!is_within(&stages[i]) && stages[i].ns > 0)
			all_ns += stages[i].ns;
	html_put(html, "<figure id=\"stages\">\n");
	figure_begin(
		html, &f, "plot", (double)count * ROW, "The life of a batch",
		"Means of all batches: each stage begins where the one before it ends, %s in all.",
		UNITS_TIME(all_ns));
	f.left = LEFT;
	f.right = RIGHT;
	f.x_high = all_ns > 0 ? all_ns : 1;
	for (size_t i = 0; i < count; i++) {
		const struct stage *stage = &stages[i];
		double ns = isnan(stage->ns) ? 0 : stage->ns, y = f.top + (double)i * ROW;
		double from_ns = is_within(stage) ? last_ns : begin_ns;

		html_put(html,
			 "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>"
			 "<path class=\"grid\" d=\"M%d %.1fH%d\"/>",
			 LEFT - 10, y + 18, stage->name, LEFT, y + ROW, RIGHT);
		if (!isnan(stage->ns))
			html_put(html,
				 "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
				 "height=\"%d\"/>"
				 "<text class=\"value\" x=\"%.0f\" y=\"%.1f\" "
				 "text-anchor=\"end\">%s</text>\n",
				 stage->class, figure_x(&f, from_ns), y + 5,
				 fmax(1, figure_x(&f, from_ns + ns) - figure_x(&f, from_ns)),
				 ROW - 9, FIGURE_RIGHT, y + 18, UNITS_TIME(stage->ns));
		else
			html_put(html, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT + 8.0,
				 y + 18, stage->note ? stage->note : "not observed");
		last_ns = from_ns;
		begin_ns = from_ns + (is_within(stage) ? 0 : ns);
	}
	figure_x_times(&f, "since work on it began, on average");
	figure_end(&f);
	html_put(html,
		 "<figcaption>What a worker does for a batch, what happens to it then, and its "
		 "step. The wait of the training is no stage of it: it is what is left when "
		 "the load and the hand-over do not fit into the steps before.</figcaption>\n"
		 "</figure>\n");
}

void html_life(struct html *html)
{
	struct stage stages[MOST_STAGE];
	size_t count;

	if (html->report->totals.load_count < 1 && !outline_find(html->outline, "life")->count)
		return;
	html_section(html, "life", "The life of a batch");
	if (html->report->totals.load_count >= 1) {
		count = find_stages(html, stages);
		put_stages(html, stages, count);
	}
	html_blocks(html, "life");
	html_section_end(html);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* stages.c - draws how busy each stage of a loader's pipeline was over time, in one lane each. */
#include <math.h>
#include <string.h>

#include "render/html/put.h"

#define LANE  28
#define LEFT  176
#define RIGHT 640
#define MOST  16
#define LEAST 0.01 /* stages that were busy for less of the time have no lane */

/* Returns true if the stage's own time is not work, but time in which its taker waits. */
static bool is_wait(const struct stage_work *stage)
{
	return stage->is_root || stage->kind == STAGE_PREFETCH ||
	       strcmp(stage->name, "ConsumerWait") == 0;
}

static void put_bars(struct figure *f, const struct stage_work *stage, bool is_inner)
{
	const struct html_input *input = f->html->input;
	const double first_ns = input->stage_bars[0].begin_ns;

	html_put(f->html, "<path class=\"%s\" d=\"",
		 is_wait(stage) ? "wait" : is_inner ? "load" : "compute");
	for (const struct stage_bar *bar = input->stage_bars;
	     bar < input->stage_bars + input->stage_bar_count; bar++) {
		const double own = fmin(bar->own, bar->busy);

		if (bar->stage_id == stage->id)
			figure_bar(f, figure_x(f, bar->begin_ns - first_ns),
				   figure_x(f, bar->end_ns - first_ns),
				   figure_y(f, is_inner ? own : 0),
				   figure_y(f, is_inner ? bar->busy : own));
	}
	html_put(f->html, "\"/>");
}

static void put_lane(struct figure *f, const struct stage_work *stage, bool is_limit)
{
	const struct html_input *input = f->html->input;

	f->y_high = 1;
	for (size_t i = 0; i < input->stage_bar_count; i++)
		if (input->stage_bars[i].stage_id == stage->id)
			f->y_high = fmax(f->y_high, input->stage_bars[i].busy);
	html_put(f->html, "<g><text%s x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
		 is_limit ? " class=\"value\"" : "", LEFT - 10, f->bottom - 4);
	html_say(f->html, "%s%s%.22s", is_limit ? "▸ " : "", stage->is_kernel ? "↳ " : "",
		 stage->name);
	html_put(f->html,
		 "</text><text class=\"value\" x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>"
		 "<path class=\"grid\" d=\"M%d %.1fH%d\"/>",
		 FIGURE_RIGHT, f->bottom - 4,
		 UNITS_SHARE(stage->busy_ns / f->html->report->stages.span_ns), LEFT,
		 figure_y(f, 1), RIGHT);
	put_bars(f, stage, false);
	put_bars(f, stage, true);
	html_put(f->html, "</g>\n");
}

void html_stages(struct html *html)
{
	const struct stages *stages = &html->report->stages;
	const struct stage_finding *found = &html->report->diagnosis.stages;
	const struct html_input *input = html->input;
	size_t lanes[MOST], count = 0, i;
	char means[400] = "";
	struct figure f;

	for (i = 0; i < stages->count && count < MOST; i++)
		if (stages->list[i].busy_ns >= LEAST * stages->span_ns) {
			page_append(means, sizeof(means), ", %s %s", stages->list[i].name,
				    UNITS_SHARE(stages->list[i].busy_ns / stages->span_ns));
			lanes[count++] = i;
		}
	if (!count || !input->stage_bar_count)
		return;
	html_put(html, "<h3>How busy each stage was</h3>\n<figure id=\"busy\">\n");
	figure_keys(html, {"compute", "in its own calls"},
		    {"load", "in them, but inside another stage"},
		    {"wait", "waiting for an element"});
	figure_begin(html, &f, "plot", (double)count * LANE, "How busy each stage was",
		     "A lane over time for each stage; on average%s.", means);
	f.left = LEFT;
	f.right = RIGHT;
	f.x_high = input->stage_bars[input->stage_bar_count - 1].end_ns -
		   input->stage_bars[0].begin_ns;
	for (i = 0; i < count; i++, f.top += LANE) {
		f.bottom = f.top + LANE - 8;
		put_lane(&f, &stages->list[lanes[i]],
			 found->limit != STAGE_LIMIT_UNKNOWN &&
				 (lanes[i] == found->slow || lanes[i] == found->lead));
	}
	f.bottom = f.top;
	figure_x_times(&f, "since these stages were first observed");
	figure_end(&f);
	html_put(html,
		 "<figcaption>The share of the time in a stage's calls, in all threads; its mean "
		 "on the right%s. The line in a lane is 100 %%: one call at all times. A call "
		 "counts where it ends. ▸ marks what the training waits for.</figcaption>\n"
		 "</figure>\n",
		 stages->is_later ? ", without the first epoch, which filled a cache" : "");
}

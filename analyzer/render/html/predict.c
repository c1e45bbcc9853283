/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predict.c - what other settings would bring: the table is for every reader, the sliders and the
 * animation are for those with JavaScript, whose script does what analysis/predict/replay.c does.
 */
#include <math.h>

#include "render/html/sections.h"

static void put_slider(struct html *html, const char *id, const char *label, int low, int high,
		       int value)
{
	html_put(html,
		 "<label for=\"s-%s\">%s</label><input type=\"range\" id=\"s-%s\" min=\"%d\" "
		 "max=\"%d\""
		 " step=\"1\" value=\"%d\"><output id=\"o-%s\" for=\"s-%s\"></output>\n",
		 id, label, id, low, high, value, id, id);
}

/* How far the sliders go: to what would be enough, and some more. */
static int most_workers(const struct report *report)
{
	const struct whatif *whatif = &report->diagnosis.whatif;
	int most = 4 * report->series.workers;

	if (whatif->has_idle_workers)
		return report->series.loading;
	most = most > 2 * whatif->needed_workers ? most : 2 * whatif->needed_workers;
	if (whatif->cores > 0 && 2 * whatif->cores > most)
		most = whatif->cores < 128 ? (int)ceil(2 * whatif->cores) : 256;
	return most < 8 ? 8 : most > 256 ? 256 : most;
}

static void put_controls(struct html *html)
{
	const struct batch_series *s = &html->report->series;
	const struct replay_setup *was = &html->report->diagnosis.whatif.setups[WHATIF_BASELINE];
	int workers = was->workers, prefetch = was->prefetch_factor;
	int most = most_workers(html->report);

	html_put(html, "<div id=\"whatif\" hidden>\n<h3>Try it</h3>\n<div class=\"sliders\">\n");
	put_slider(html, "workers", "workers", workers ? 1 : 0, most > workers ? most : workers,
		   workers);
	put_slider(html, "load", "time of a load", 5, 200, 100);
	put_slider(html, "prefetch", "prefetch_factor", 1,
		   prefetch > REPLAY_SLOTS ? prefetch
		   : prefetch > 8          ? 2 * prefetch
					   : 16,
		   prefetch);
	html_put(html,
		 "<label for=\"s-order\">in order</label><input type=\"checkbox\" id=\"s-order\"%s>"
		 "<button type=\"button\" id=\"s-reset\">as it was</button>\n</div>\n"
		 "<p class=\"answer\"><output id=\"predicted\" aria-live=\"polite\"></output></p>\n"
		 "</div>\n",
		 s->in_order != 0 ? " checked" : "");
}

static void put_scene(struct html *html, const char *id, const char *title)
{
	html_put(html,
		 "<div class=\"scene\" id=\"%s\"><h4>%s</h4><p class=\"tally\"></p>"
		 "<div class=\"line heads\" aria-hidden=\"true\"><span>workers "
		 "load</span><span>ready, not yet taken</span><span>training</span></div>"
		 "<div class=\"line\" role=\"img\" aria-label=\"%s: workers, finished batches, "
		 "training\"><div class=\"crew\"></div><div class=\"shelf\"></div>"
		 "<div class=\"model\"></div></div><div class=\"past\"></div></div>\n",
		 id, title, title);
}

static void put_replay(struct html *html)
{
	html_put(html,
		 "<div id=\"replay\" hidden>\n<h3>Watch it</h3>\n"
		 "<p>Your run's own loads and steps, from the workers over the finished batches to "
		 "the "
		 "training: as it was, and with the settings above.</p>\n"
		 "<div class=\"controls\"><button type=\"button\" id=\"r-play\">Play</button>\n"
		 "<label for=\"r-time\">time</label>"
		 "<input type=\"range\" id=\"r-time\" min=\"0\" max=\"1000\" value=\"0\">"
		 "<output id=\"r-now\"></output>\n"
		 "<label for=\"r-from\">from batch</label>"
		 "<input type=\"range\" id=\"r-from\" min=\"0\" max=\"0\" value=\"0\">"
		 "<output id=\"r-start\"></output>\n"
		 "<label for=\"r-speed\">speed</label>"
		 "<input type=\"range\" id=\"r-speed\" min=\"-20\" max=\"20\" value=\"0\">"
		 "<output id=\"r-rate\"></output></div>\n");
	put_scene(html, "scene-was", "As it was");
	put_scene(html, "scene-new", "With the settings above");
	html_put(html, "</div>\n");
}

void html_predict(struct html *html)
{
	if (isnan(html->report->diagnosis.whatif.batches_per_s[WHATIF_BASELINE]))
		return;
	html_section(html, "predict", "What would help");
	html_blocks(html, "predict");
	put_controls(html);
	put_replay(html);
	html_put(html,
		 "<noscript><p class=\"quiet\">With JavaScript there are sliders here for other "
		 "settings, and an animation of the run.</p></noscript>\n");
	html_section_end(html);
}

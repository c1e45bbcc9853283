/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c - shows predictions: a table, and sliders over points that grid.h computed. */
#include "render/html/put.h"

#include "render/run/parts.h"

static void put_slider(struct html *html, const char *id, const char *label, size_t count,
		       size_t value)
{
	html_put(html,
		 "<label for=\"s-%s\">%s</label><input type=\"range\" id=\"s-%s\" min=\"0\" "
		 "max=\"%zu\" step=\"1\" value=\"%zu\"%s><output id=\"o-%s\" for=\"s-%s\">"
		 "</output>\n",
		 id, label, id, count - 1, value, count == 1 ? " disabled" : "", id, id);
}

static void put_controls(struct html *html)
{
	const struct grid *grid = html->input->grid;

	html_put(html, "<div id=\"whatif\" hidden>\n<h3>Try it</h3>\n<div class=\"sliders\">\n");
	put_slider(html, "workers", "workers", grid->workers.count, grid->workers.was);
	put_slider(html, "load", "time of a load", grid->load.count, grid->load.was);
	put_slider(html, "prefetch", dialect_of(html->input->report->loader)->prefetch_each,
		   grid->prefetch.count, grid->prefetch.was);
	html_put(html,
		 "<label for=\"s-order\">in order</label>"
		 "<input type=\"checkbox\" id=\"s-order\"%s%s>"
		 "<button type=\"button\" id=\"s-reset\">as it was</button>\n</div>\n"
		 "<p class=\"answer\"><output id=\"predicted\" aria-live=\"polite\"></output></p>\n"
		 "</div>\n",
		 grid->in_order[0] ? " checked" : "", grid->order_count == 1 ? " disabled" : "");
}

void html_predict(struct html *html)
{
	if (!html->input->grid->points)
		return;
	html_section(html, "predict", "What would help");
	html_blocks(html, "predict");
	put_controls(html);
	html_put(html,
		 "<noscript><p class=\"quiet\">With JavaScript there are sliders here for other "
		 "settings.</p></noscript>\n");
	html_section_end(html);
}

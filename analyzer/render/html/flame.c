/* SPDX-License-Identifier: Apache-2.0 */
/* flame.c - writes stack samples as tables, and as data from which flame.js draws. */
#include <errno.h>
#include <stdlib.h>

#include "render/run/code.h"
#include "render/html/put.h"
#include "render/form/jsonw.h"

#define MOST_STACKS 600
#define MOST_FRAMES 4000
#define MOST_DEPTH  64 /* at most this many outermost frames of a stack are written */
#define LEAST_COUNT 20

struct flame {
	struct jsonw *json;
	const struct report *report;
	uint32_t *numbers; /* for each frame of the samples, 1 + its index in `frames`, or 0 */
	uint32_t *frames;
	size_t count;
};

static void put_stack(struct flame *flame, const struct line_stack *stack)
{
	jsonw_open(flame->json, NULL, '[');
	jsonw_int(flame->json, NULL, stack->ns);
	for (size_t i = 0; i < stack->depth && i < MOST_DEPTH; i++) {
		uint32_t frame = stack->frames[stack->depth - 1 - i];

		if (!flame->numbers[frame]) {
			flame->frames[flame->count] = frame;
			flame->numbers[frame] = (uint32_t)++flame->count;
		}
		jsonw_int(flame->json, NULL, flame->numbers[frame] - 1);
	}
	jsonw_close(flame->json, ']');
}

static void put_group(struct flame *flame, enum line_group group, const char *name)
{
	const struct line_samples *samples = &flame->report->samples;
	const struct line_lead *lead = &flame->report->lines.groups[group];
	const struct line_filter filter = lines_filter(
		samples, flame->report->loader ? flame->report->filter.loader_id : 0, group);
	size_t count = 0;

	if (lead->samples < LEAST_COUNT)
		return;
	jsonw_open(flame->json, NULL, '{');
	jsonw_string(flame->json, "name", name);
	jsonw_int(flame->json, "samples", lead->samples);
	jsonw_number(flame->json, "ns", lead->ns);
	jsonw_open(flame->json, "stacks", '[');
	/* Stacks are sorted by time, the longest first. */
	for (size_t i = 0; i < samples->stack_count && count < MOST_STACKS; i++) {
		const struct line_stack *stack = &samples->stacks[i];

		if (!lines_is_sampled(stack) || !lines_passes(&filter, stack) ||
		    flame->count + MOST_DEPTH > MOST_FRAMES)
			continue;
		put_stack(flame, stack);
		count++;
	}
	jsonw_close(flame->json, ']');
	jsonw_close(flame->json, '}');
}

static void put_frames(struct flame *flame)
{
	jsonw_open(flame->json, "frames", '[');
	for (size_t i = 0; i < flame->count; i++) {
		jsonw_open(flame->json, NULL, '[');
		jsonw_string(flame->json, NULL, CODE_FUNCTION(flame->report, flame->frames[i]));
		jsonw_string(flame->json, NULL, CODE_PLACE(flame->report, flame->frames[i]));
		jsonw_bool(flame->json, NULL,
			   flame->report->samples.frames[flame->frames[i]].is_own);
		jsonw_close(flame->json, ']');
	}
	jsonw_close(flame->json, ']');
}

int html_flames(const struct report *report, struct jsonw *json)
{
	struct flame flame = {
		.json = json,
		.report = report,
		.numbers = calloc(report->samples.frame_count + 1, sizeof(*flame.numbers)),
		.frames = calloc(MOST_FRAMES, sizeof(*flame.frames)),
	};
	bool has_memory = flame.numbers && flame.frames;

	if (has_memory && report->samples.stack_count) {
		jsonw_open(json, "flames", '{');
		jsonw_open(json, "groups", '[');
		put_group(&flame, LINE_LOADS, "Loads");
		put_group(&flame, LINE_WAITS, "Waits");
		put_group(&flame, LINE_STEPS, "Steps");
		jsonw_close(json, ']');
		put_frames(&flame);
		jsonw_close(json, '}');
	}
	free(flame.numbers);
	free(flame.frames);
	return has_memory ? 0 : -ENOMEM;
}

void html_code(struct html *html)
{
	if (!outline_find(html->outline, "code")->count)
		return;
	html_section(html, "code", "In your code");
	html_put(html, "<div id=\"flames\" hidden></div>\n");
	html_blocks(html, "code");
	html_section_end(html);
}

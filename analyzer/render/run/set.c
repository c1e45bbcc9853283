/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - settings that a run's loaders got from outside, and whether they change the samples. */
#include <string.h>

#include "analysis/predict/same.h"
#include "render/run/parts.h"

static bool is_iterable(const struct report *report)
{
	return report->loader && strstr(report->loader->kind, "(iterable)");
}

/* Whether the settings of all loaders keep the samples the same. */
static enum same same_of(const struct report *report)
{
	enum same most = SAME_ALL;

	for (size_t i = 0; i < report->set_count; i++) {
		enum same same = same_after_changes(report->set_done[i], is_iterable(report));

		most = same > most ? same : most;
	}
	return most;
}

void set_outline(const struct report *report, struct outline *o)
{
	char text[512] = "";

	if (!report->run.set || !*report->run.set)
		return;
	for (size_t i = 0; i < report->set_count; i++)
		page_append(text, sizeof(text), "%s%s", i ? "; " : "", report->set_done[i]);
	if (*text)
		outline_item(o, "Set", "%s (by --set): %s", text, same_words[same_of(report)]);
	else
		outline_item(o, "Set", "%s was asked for, and changed nothing", report->run.set);
}

void set_json(const struct report *report, struct jsonw *json)
{
	jsonw_open(json, "set", '{');
	jsonw_string(json, "asked", report->run.set);
	jsonw_open(json, "done", '[');
	for (size_t i = 0; i < report->set_count; i++)
		jsonw_string(json, NULL, report->set_done[i]);
	jsonw_close(json, ']');
	jsonw_string(json, "samples", report->set_count ? same_ids[same_of(report)] : NULL);
	jsonw_close(json, '}');
}

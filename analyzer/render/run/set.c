/* SPDX-License-Identifier: Apache-2.0 */
/* set.c - shows which settings --set changed from outside, and how that changes the samples. */
#include <string.h>

#include "render/run/parts.h"

static bool is_iterable(const struct report *report)
{
	return report->loader && strstr(report->loader->kind, "(iterable)");
}

enum same set_same(const struct report *report)
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
		outline_item(o, "Set", "%s (by --set): %s", text, same_words[set_same(report)]);
	else
		outline_item(o, "Set", "%s was asked for, and changed nothing", report->run.set);
}

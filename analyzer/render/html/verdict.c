/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - the top of the page: what a reader who leaves after ten seconds should know. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/advise.h"
#include "render/explain.h"
#include "render/html/sections.h"
#include "render/verdict.h"

void html_heading(struct html *html, enum stall_verdict verdict)
{
	const struct verdict *v = verdict_of(verdict);

	html_put(html, "<h1 class=\"%s\"><span aria-hidden=\"true\">%s</span> %s</h1>\n",
		 html_tone(v->tone), v->sign, v->words);
}

static void put_ratio(struct html *html)
{
	const struct finding *f = &html->report->finding;
	const struct boot *boot = &html->report->diagnosis.boot;
	char low[UNITS_MAX], high[UNITS_MAX], factor[UNITS_MAX];
	char sentence[VERDICT_SENTENCE], range[2 * UNITS_MAX + 32] = "", extent[96] = "";

	if (!isnan(boot->low95))
		snprintf(range, sizeof(range), " (95 %% interval %s to %s)",
			 units_share(low, boot->low95), units_share(high, boot->high95));
	html_answer(html, verdict_sentence(sentence, verdict_clock(f), f->stall_ratio), range);
	if (!f->starved || isnan(f->gain_max))
		return;
	advise_add_extent(html->report, extent, sizeof(extent));
	html_put(html, "<p class=\"answer\">");
	html_say(html, "Fixing input alone would make %s up to ", extent);
	html_put(html, "<strong>");
	html_say(html, "%.*s", (int)strcspn(units_factor(factor, f->gain_max), "x"), factor);
	html_put(html, "×</strong> faster.</p>\n");
}

static void put_cause(struct html *html)
{
	const struct diagnosis *d = &html->report->diagnosis;
	const char *name = cause_name(d->cause);
	char text[1024] = "";

	if (!name)
		return;
	if (d->cause == CAUSE_NONE) {
		html_paragraph(html, "", "%s", explain_find(name)->line);
		return;
	}
	advise_add_evidence(html->report, text, sizeof(text));
	html_put(html, "<p><b>Why.</b> ");
	html_say(html, "%s%s", explain_find(name)->line, text);
	html_put(html, "</p>\n");
}

static void put_next(struct html *html)
{
	const struct advice_list *list = &html->report->diagnosis.advice;
	char text[512] = "", gain[UNITS_MAX];
	size_t i, count = 0;

	for (i = 0; i < list->count; i++) {
		const struct advice *advice = &list->steps[i];

		if (advice->id == ADVICE_NONE)
			continue;
		html_put(html, "%s<li>",
			 count++ ? "" : "<h2>Next steps</h2>\n<ol class=\"next\">\n");
		html_say(html, "%s", advise_line(html->report, advice->id));
		if (advice->gain >= 0.005) {
			html_put(html, " <b class=\"gain\">");
			html_say(html, "%s %s more batches/s.",
				 advice->is_bound ? "At most" : "Predicted:",
				 units_share(gain, advice->gain));
			html_put(html, "</b>");
		}
		html_put(html, "</li>\n");
	}
	if (count)
		html_put(html, "</ol>\n");
	advise_add_useless(html->report, text, sizeof(text));
	if (*text) {
		html_put(html, "<p class=\"quiet\"><b>What would not help.</b> ");
		html_say(html, "%s.", text);
		html_put(html, "</p>\n");
	}
}

static void put_incomplete(struct html *html)
{
	const struct finding *f = &html->report->finding;

	html_paragraph(html, "answer", "No verdict: %s. %s", verdict_reason(f->gap),
		       verdict_remedy(f->gap));
	if (f->gap == STALL_GAP_FEW_BATCHES)
		html_paragraph(html, "", "%zu steady batch%s were seen; a verdict takes %d.",
			       f->steady_count, f->steady_count == 1 ? "" : "es", STALL_FEWEST);
}

static void put_facts(struct html *html)
{
	const struct report *report = html->report;
	const struct loader_info *loader = report->loader;
	double ns = (double)report->run.end_ns - (double)report->run.start_ns;
	char text[UNITS_MAX];

	html_put(html, "<dl class=\"facts\">");
	html_fact(html, "Batches", units_count(text, (int64_t)report->finding.batch_count));
	html_fact(html, "Epochs", units_count(text, (int64_t)report->finding.epoch_count));
	if (report->run.end_ns != QUERY_UNKNOWN && report->run.start_ns != QUERY_UNKNOWN && ns >= 0)
		html_fact(html, "Duration", html_time(text, ns));
	if (loader && loader->workers != QUERY_UNKNOWN)
		html_fact(html, "Workers", units_count(text, loader->workers));
	if (loader && loader->workers > 0 && loader->prefetch_factor != QUERY_UNKNOWN)
		html_fact(html, "Prefetch", units_count(text, loader->prefetch_factor));
	if (loader && loader->batch_size != QUERY_UNKNOWN)
		html_fact(html, "Batch size", units_count(text, loader->batch_size));
	if (report->finding.verdict != STALL_VERDICT_INCOMPLETE)
		html_fact(html, "Confidence", stall_confidence_id(report->finding.confidence));
	html_put(html, "</dl>\n");
}

void html_verdict(struct html *html)
{
	const struct report *report = html->report;
	enum stall_verdict verdict = report->finding.verdict;

	html_put(html, "<header>\n<p class=\"run\">dlprof report of <b>");
	html_text(html, report->name);
	html_put(html, "</b>");
	if (report->run.command) {
		html_put(html, "<br><code>");
		html_text(html, report->run.command);
		html_put(html, "</code>");
	}
	if (report->live)
		html_put(html, "<br>The run was still recording.");
	html_put(html, "</p>\n");
	html_heading(html, verdict);
	if (verdict == STALL_VERDICT_INCOMPLETE)
		put_incomplete(html);
	else
		put_ratio(html);
	put_cause(html);
	put_facts(html);
	put_next(html);
	html_put(html, "</header>\n\n");
}

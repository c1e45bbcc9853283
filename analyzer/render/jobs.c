/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - several jobs, or attempts of one: a row for each, and never a mixture. */
#include <inttypes.h>
#include <math.h>

#include "render/jsonw.h"
#include "render/ranks.h"
#include "render/units.h"

const char *jobs_id_words(const struct ranks *job, char text[JOBS_ID])
{
	snprintf(text, JOBS_ID, "%s", job->job_id ? job->job_id : "not known");
	if (job->attempt > 0)
		page_append(text, JOBS_ID, " (%" PRId64 ")", job->attempt);
	return text;
}

static void print_row(const struct ranks *job, const struct page *page)
{
	const struct rank_finding *found = &job->job;
	char stall[UNITS_MAX], count[80], culprit[UNITS_MAX] = "-", id[JOBS_ID];

	if (found->culprit >= 0)
		snprintf(culprit, sizeof(culprit), "%" PRId64, job->rows[found->culprit].rank);
	ranks_count_words(job, count, sizeof(count));
	page_line(page, "  %-20s %8s  %-10s  %7s  %s", jobs_id_words(job, id),
		  isnan(found->stall_ratio) ? "-" : units_share(stall, found->stall_ratio),
		  verdict_of(found->verdict)->word, culprit, count);
}

static void print_doubts(const struct ranks *job, const struct page *page)
{
	char text[RANKS_DOUBT], id[JOBS_ID];

	for (size_t i = 0; ranks_doubt_words(job, &i, text);)
		page_item(page, "Sure", "less about job %s: %s", jobs_id_words(job, id), text);
}

void jobs_text(const char *path, const struct ranks *jobs, size_t count, const struct page *page)
{
	page_line(page, "dlprof  %s  %zu jobs", path, count);
	page_break(page);
	page_line(page, "  %-20s %8s  %-10s  %7s  ranks", "job (attempt)", "stall", "verdict",
		  "culprit");
	for (size_t i = 0; i < count; i++)
		print_row(&jobs[i], page);
	page_break(page);
	page_item(page, "Culprit", "the rank that waits for data while the others wait for it");
	for (size_t i = 0; i < count; i++)
		print_doubts(&jobs[i], page);
	page_item(page, "More", "dlprof-report --job ID %s", path);
}

void jobs_json(const char *path, const struct ranks *jobs, size_t count, FILE *out)
{
	struct jsonw json;

	jsonw_begin(&json, out, "dlprof.report/2");
	jsonw_open(&json, "run", '{');
	jsonw_string(&json, "path", path);
	jsonw_close(&json, '}');
	jsonw_open(&json, "jobs", '[');
	for (size_t i = 0; i < count; i++) {
		jsonw_open(&json, NULL, '{');
		ranks_json_job(&json, &jobs[i]);
		jsonw_close(&json, '}');
	}
	jsonw_close(&json, ']');
	jsonw_close(&json, '}');
}

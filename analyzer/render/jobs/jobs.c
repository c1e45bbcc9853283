/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c - shows several jobs, or attempts of a job: a row for each. No figure mixes two jobs. */
#include <errno.h>
#include <inttypes.h>

#include "render/form/units.h"
#include "render/form/verdict.h"
#include "render/jobs/ranks.h"

static void add_row(const struct ranks *job, struct outline *o)
{
	const struct rank_finding *found = &job->job;
	const struct verdict *verdict = verdict_of(found->verdict);
	char text[RANKS_COUNT], share[UNITS_MAX];

	outline_cells(o, ranks_id_words(job, text),
		      ranks_share_words(found->verdict, found->stall_ratio, share));
	outline_sign(o, verdict->sign);
	outline_cell(o, "%s", verdict->word);
	if (found->culprit < 0)
		outline_cell(o, "-");
	else
		outline_cell(o, "%" PRId64, job->rows[found->culprit].rank);
	outline_cell(o, "%s", ranks_count_words(job, text));
}

int jobs_outline(const char *path, const struct ranks *jobs, size_t count, struct outline *o)
{
	char text[RANKS_DOUBT], id[RANKS_ID];

	*o = (struct outline){0};
	outline_items(o, OUTLINE_HEAD);
	outline_item(o, "", "%zu jobs", count);
	outline_cell(o, "%s", path);
	outline_table(o, "jobs", "Job (attempt)", "#Stall", "Input-bound", "#Culprit", "Ranks");
	for (size_t i = 0; i < count; i++)
		add_row(&jobs[i], o);
	outline_items(o, "jobs");
	outline_item(o, "Culprit", "the rank that waits for data while the others wait for it");
	outline_items(o, RANKS_LIMITS);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < RANKS_DOUBTS; k++)
			if (ranks_doubt(&jobs[i], k, text))
				outline_item(o, "Less sure", "about job %s: %s",
					     ranks_id_words(&jobs[i], id), text);
	outline_items(o, OUTLINE_MORE);
	outline_item(o, "More", "dlprof-report --job ID %s", path);
	return o->failed ? -ENOMEM : 0;
}

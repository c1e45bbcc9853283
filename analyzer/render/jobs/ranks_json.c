/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_json.c - writes one job with its ranks, or several, as JSON. */
#include <math.h>

#include "analysis/statistics/array.h"
#include "render/form/facts.h"
#include "render/jobs/ranks.h"

#define MOST_MISSING 100000 /* most missing ranks to list; a file may claim any world size */

static bool has_rank(const struct ranks *ranks, int64_t rank)
{
	size_t at = ARRAY_PLACE(ranks->count, i, ranks->rows[i].rank < rank);

	return at < ranks->count && ranks->rows[at].rank == rank;
}

static int64_t known_ranks(const struct ranks *ranks)
{
	return ranks->world_size < 0		  ? 0
	       : ranks->world_size < MOST_MISSING ? ranks->world_size
						  : MOST_MISSING;
}

static void put_job(struct jsonw *json, const struct ranks *ranks)
{
	const struct ranks_spread spread = ranks_spread(ranks);
	const struct rank_finding *job = &ranks->job;
	struct ranks_uneven uneven;
	char text[RANKS_DOUBT];
	bool by_gpu = true;

	for (size_t i = 0; i < ranks->count; i++)
		by_gpu &= ranks->rows[i].finding.by_gpu;
#include "render/jobs/job.def"
}

void ranks_json(const struct ranks *ranks, FILE *out)
{
	struct jsonw writer, *json = &writer;

	jsonw_begin(json, out, "dlprof.report/3");
	put_job(json, ranks);
#include "render/jobs/ranks.def"
	jsonw_close(json, '}');
}

void jobs_json(const char *path, const struct ranks *jobs, size_t count, FILE *out)
{
	struct jsonw writer, *json = &writer;

	jsonw_begin(json, out, "dlprof.report/3");
#define JOB(job) put_job(json, job);
#include "render/jobs/jobs.def"
	jsonw_close(json, '}');
}

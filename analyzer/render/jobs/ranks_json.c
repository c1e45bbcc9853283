/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_json.c - the ranks of a job for programs. */
#include <math.h>

#include "render/form/jsonw.h"
#include "render/jobs/ranks.h"

#define MOST_MISSING 100000 /* a world size in the environment may be anything */

static void add_row(struct jsonw *json, const struct ranks *ranks, size_t i)
{
	const struct rank_row *row = &ranks->rows[i];
	const struct finding *finding = &row->finding;
	const struct rank_blame *blame = &ranks->blames[i];
	const double share = ranks_blame_share(ranks, i);
	const bool aligned = !isnan(share);

	jsonw_open(json, NULL, '{');
	jsonw_int(json, "rank", row->rank);
	jsonw_string(json, "path", row->path);
	jsonw_string(json, "host", row->host);
	jsonw_string(json, "gpu", row->gpu);
	jsonw_string(json, "clock", finding->by_gpu ? "gpu" : "host");
	jsonw_string(json, "verdict", stall_verdict_ids[finding->verdict]);
	jsonw_number(json, "stall_ratio", finding->stall_ratio);
	jsonw_int(json, "batches", (int64_t)finding->batch_count);
	jsonw_int(json, "steady_batches", (int64_t)finding->steady_count);
	jsonw_number(json, "wait_s", finding->account.wait_ns / NS_PER_S);
	jsonw_number(json, "time_s", finding->account.time_ns / NS_PER_S);
	jsonw_number(json, "collectives_alone_share", row->alone_share);
	jsonw_bool(json, "culprit", blame->is_culprit);
	jsonw_number(json, "blame_s", aligned ? blame->wait_ns / NS_PER_S : NAN);
	jsonw_number(json, "blame_share", share);
	jsonw_number(json, "saved_s", aligned ? blame->saved_ns / NS_PER_S : NAN);
	jsonw_bool(json, "live", row->live);
	jsonw_string(json, "end", *row->ended ? row->ended : NULL);
	jsonw_close(json, '}');
}

static void add_missing(struct jsonw *json, const struct ranks *ranks)
{
	size_t i = 0;

	jsonw_open(json, "missing", '[');
	for (int64_t rank = 0; rank < ranks->world_size && rank < MOST_MISSING; rank++) {
		if (i < ranks->count && ranks->rows[i].rank == rank)
			i++;
		else
			jsonw_int(json, NULL, rank);
	}
	jsonw_close(json, ']');
}

static void add_ranks(struct jsonw *json, const char *name, const struct ranks *ranks,
		      ranks_filter *is_meant, int which)
{
	jsonw_open(json, name, '[');
	for (size_t i = 0; i < ranks->count; i++)
		if (is_meant(&ranks->blames[i], which))
			jsonw_int(json, NULL, ranks->rows[i].rank);
	jsonw_close(json, ']');
}

static void add_groups(struct jsonw *json, const struct ranks *ranks)
{
	jsonw_open(json, "groups", '[');
	for (size_t i = 0; i < ranks->job.group_count; i++) {
		const struct rank_part *group = &ranks->job.groups[i];

		jsonw_open(json, NULL, '{');
		add_ranks(json, "ranks", ranks, ranks_is_in_group, (int)i);
		jsonw_number(json, "stall_ratio", group->stall_ratio);
		jsonw_bool(json, "meets", group->meets);
		add_ranks(json, "culprits", ranks, ranks_is_culprit, (int)i);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

static void add_stall(struct jsonw *json, const struct rank_finding *job)
{
	jsonw_string(json, "verdict", stall_verdict_ids[job->verdict]);
	jsonw_tristate(json, "starved",
		       stall_is_judged(job->verdict) ? job->starved : SERIES_UNKNOWN);
	jsonw_open(json, "stall", '{');
	jsonw_number(json, "ratio", job->stall_ratio);
	jsonw_bool(json, "in_doubt", job->verdict == STALL_VERDICT_IN_DOUBT);
	jsonw_bool(json, "at_most", job->alignment != RANK_ALONE && !job->is_exact);
	jsonw_number(json, "trimmed_ratio", job->trimmed_ratio);
	jsonw_number(json, "wait_s", job->wait_ns / NS_PER_S);
	jsonw_number(json, "time_s", job->time_ns / NS_PER_S);
	jsonw_close(json, '}');
}

void ranks_json_job(struct jsonw *json, const struct ranks *ranks)
{
	const struct ranks_spread spread = ranks_spread(ranks);
	const struct rank_finding *job = &ranks->job;
	bool by_gpu = true;
	size_t i;

	for (i = 0; i < ranks->count; i++)
		by_gpu &= ranks->rows[i].finding.by_gpu;
	jsonw_open(json, "run", '{');
	jsonw_string(json, "path", ranks->path);
	jsonw_string(json, "job_id", ranks->job_id);
	jsonw_int(json, "attempt", ranks->attempt);
	jsonw_int(json, "ranks", (int64_t)ranks->count);
	jsonw_int(json, "world_size", ranks->world_size);
	jsonw_int(json, "without_loader", (int64_t)ranks_without_loader(ranks));
	add_missing(json, ranks);
	jsonw_close(json, '}');
	jsonw_string(json, "clock", by_gpu ? "gpu" : "host");
	add_stall(json, job);
	jsonw_open(json, "job", '{');
	jsonw_string(json, "aligned_by", rank_alignment_names[job->alignment]);
	jsonw_int(json, "window_steps", job->width ? job->width : SERIES_UNKNOWN);
	jsonw_number(json, "lag", job->lag);
	jsonw_int(json, "steps", (int64_t)job->step_count);
	jsonw_int(json, "culprit",
		  job->culprit < 0 ? SERIES_UNKNOWN : ranks->rows[job->culprit].rank);
	add_ranks(json, "culprits", ranks, ranks_is_culprit, ranks_group(ranks));
	jsonw_number(json, "blame_share", job->blame_share);
	jsonw_number(json, "saved_s", job->culprit_count ? job->saved_ns / NS_PER_S : NAN);
	jsonw_number(json, "gain_min", job->culprit_count ? job->gain_least : NAN);
	jsonw_number(json, "gain_max", job->culprit_count ? job->gain_most : NAN);
	add_groups(json, ranks);
	ranks_json_doubts(json, ranks);
	jsonw_number(json, "clocks_apart_s", job->apart_ns > 0 ? job->apart_ns / NS_PER_S : NAN);
	jsonw_open(json, "spread", '{');
	jsonw_number(json, "min", spread.least);
	jsonw_number(json, "median", spread.median);
	jsonw_number(json, "max", spread.most);
	jsonw_close(json, '}');
	jsonw_close(json, '}');
}

void ranks_json(const struct ranks *ranks, FILE *out)
{
	struct jsonw json;
	size_t i;

	jsonw_begin(&json, out, "dlprof.report/3");
	ranks_json_job(&json, ranks);
	jsonw_open(&json, "ranks", '[');
	for (i = 0; i < ranks->count; i++)
		add_row(&json, ranks, i);
	jsonw_close(&json, ']');
	jsonw_close(&json, '}');
}

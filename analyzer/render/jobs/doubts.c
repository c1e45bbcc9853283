/* SPDX-License-Identifier: Apache-2.0 */
/* doubts.c - reasons to doubt a job's verdict. */
#include <inttypes.h>

#include "render/form/jsonw.h"
#include "render/form/units.h"
#include "render/jobs/ranks.h"

/* The smallest world size that any rank tells, and the rank. -1: none tells it. */
static int64_t least_world_size(const struct ranks *ranks, int64_t *ret_rank)
{
	int64_t least = -1;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct rank_row *row = &ranks->rows[i];

		if (row->world_size > 0 && (least < 0 || row->world_size < least)) {
			least = row->world_size;
			*ret_rank = row->rank;
		}
	}
	return least;
}

static void put_world_size(const struct ranks *ranks, char *text)
{
	char least[UNITS_MAX], most[UNITS_MAX];
	int64_t rank, size = least_world_size(ranks, &rank);

	if (size > 0 && size != ranks->world_size)
		page_append(text, RANKS_DOUBT,
			    "the ranks disagree about how many they are: rank %" PRId64
			    " says %s, another %s; they may be of different jobs",
			    rank, units_count(least, size), units_count(most, ranks->world_size));
}

static void put_shifted(const struct ranks *ranks, char *text)
{
	const struct rank_finding *job = &ranks->job;

	if (!job->shifted_count)
		return;
	page_append(text, RANKS_DOUBT, "the first batch of rank %" PRId64,
		    ranks->rows[job->shifted].rank);
	if (job->shifted_count > 1)
		page_append(text, RANKS_DOUBT, " and %zu more", job->shifted_count - 1);
	page_append(text, RANKS_DOUBT, " has another number than the others': %s",
		    job->alignment == RANK_ALONE ? "ranks may wait for each other all the same, "
						   "and more be lost than this"
						 : "what is compared need not be the same step, "
						   "and what is lost is a guess");
}

static void put_apart(const struct ranks *ranks, char *text)
{
	if (ranks->job.apart_ns > 0)
		page_append(text, RANKS_DOUBT,
			    "a rank begins and ends %s apart from the others by its host's clock: "
			    "if that clock is wrong, more may be lost than this",
			    UNITS_TIME(ranks->job.apart_ns));
}

static const struct {
	const char *id;
	void (*put)(const struct ranks *ranks, char *text);
} doubts[] = {
	{"shifted_batches", put_shifted},
	{"clocks_apart", put_apart},
	{"world_size", put_world_size},
};

bool ranks_doubt_words(const struct ranks *ranks, size_t *at, char text[RANKS_DOUBT])
{
	for (*text = '\0'; !*text && *at < ARRAY_COUNT(doubts); ++*at)
		doubts[*at].put(ranks, text);
	return *text;
}

void ranks_json_doubts(struct jsonw *json, const struct ranks *ranks)
{
	char text[RANKS_DOUBT];

	jsonw_open(json, "doubts", '[');
	for (size_t i = 0; ranks_doubt_words(ranks, &i, text);) {
		jsonw_open(json, NULL, '{');
		jsonw_string(json, "id", doubts[i - 1].id);
		jsonw_string(json, "text", text);
		jsonw_close(json, '}');
	}
	jsonw_close(json, ']');
}

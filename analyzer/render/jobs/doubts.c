/* SPDX-License-Identifier: Apache-2.0 */
/* doubts.c - writes reasons to doubt a job's verdict. */
#include <inttypes.h>

#include "render/form/units.h"
#include "render/jobs/ranks.h"

/* Returns the smallest world size that a rank recorded, and that rank; -1 if none recorded one. */
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

const char *const ranks_doubt_ids[RANKS_DOUBTS] = {"shifted_batches", "clocks_apart", "world_size"};

bool ranks_doubt(const struct ranks *ranks, size_t which, char text[RANKS_DOUBT])
{
	static void (*const put[RANKS_DOUBTS])(const struct ranks *ranks, char *text) = {
		put_shifted, put_apart, put_world_size};

	*text = '\0';
	put[which](ranks, text);
	return *text;
}

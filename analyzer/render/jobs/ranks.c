/* SPDX-License-Identifier: Apache-2.0 */
#include "render/jobs/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/form/units.h"
#include "render/form/verdict.h"
#include "render/run/parts.h"

#define COLLECTIVES 0.1
#define MOSTLY      0.75
#define LONGER      1.5

static const char *verdict_words(const struct rank_finding *job, char text[VERDICT_SENTENCE])
{
	const bool is_most = job->alignment != RANK_ALONE && !job->is_exact;

	return verdict_sentence(text,
				job->group_count ? VERDICT_GROUP
				: is_most        ? VERDICT_JOB_MOST
						 : VERDICT_JOB,
				job->stall_ratio);
}

const char *ranks_id_words(const struct ranks *job, char text[RANKS_ID])
{
	snprintf(text, RANKS_ID, "%s", job->job_id ? job->job_id : "not known");
	if (job->attempt > 0)
		page_append(text, RANKS_ID, " (%" PRId64 ")", job->attempt);
	return text;
}

#define RANKS_MOST_NAMED 8

/* Appends a range such as "7-9". After RANKS_MOST_NAMED, appends "..." and returns false. */
static bool append_range(struct text *text, size_t *named, int64_t first, int64_t last)
{
	if ((*named)++ == RANKS_MOST_NAMED) {
		text_add(text, ", ...");
		return false;
	}
	text_add(text, "%s%" PRId64, *named > 1 ? ", " : "", first);
	if (last > first)
		text_add(text, "-%" PRId64, last);
	return true;
}

static void append_ranks(const struct ranks *ranks, ranks_filter *is_meant, int which,
			 struct text *text)
{
	const struct rank_row *rows = ranks->rows;
	size_t named = 0, i, end;

	for (i = 0; i < ranks->count; i = end) {
		end = i + 1;
		if (!is_meant(&ranks->blames[i], which))
			continue;
		while (end < ranks->count && is_meant(&ranks->blames[end], which) &&
		       rows[end].rank == rows[end - 1].rank + 1)
			end++;
		if (!append_range(text, &named, rows[i].rank, rows[end - 1].rank))
			return;
	}
}

/* Returns the host on which all culprits run; NULL: it is unknown, or there are several hosts. */
static const char *host_of_culprits(const struct ranks *ranks)
{
	const char *host = NULL;

	for (size_t i = 0; i < ranks->count; i++) {
		const char *own = ranks->rows[i].host;

		if (!ranks_is_culprit(&ranks->blames[i], ranks_group(ranks)))
			continue;
		if (!own || (host && strcmp(own, host) != 0))
			return NULL;
		host = own;
	}
	return host;
}

static size_t size_of_group(const struct ranks *ranks, int group)
{
	size_t count = 0;

	for (size_t i = 0; i < ranks->count; i++)
		count += ranks_is_in_group(&ranks->blames[i], group);
	return count;
}

/* Appends which groups of ranks do not wait for each other, and which of them loses most. */
static void groups_words(const struct ranks *ranks, struct text *text)
{
	const struct rank_finding *job = &ranks->job;

	for (size_t i = 0; i < job->group_count; i++) {
		if (i == RANKS_MOST_NAMED) {
			text_add(text, " and others");
			break;
		}
		text_add(text, i ? i + 1 < job->group_count ? ", " : " and " : "Ranks ");
		append_ranks(ranks, ranks_is_in_group, (int)i, text);
	}
	if (!job->group_count)
		return;
	text_add(text, " do not wait for each other. %s ",
		 size_of_group(ranks, (int)job->group) > 1 ? "Ranks" : "Rank");
	append_ranks(ranks, ranks_is_in_group, (int)job->group, text);
	text_add(text, " lose%s %s of %s time, more than any other.",
		 size_of_group(ranks, (int)job->group) > 1 ? "" : "s",
		 UNITS_SHARE(job->stall_ratio),
		 size_of_group(ranks, (int)job->group) > 1 ? "their" : "its");
}

/* Appends how long the culprits' loads take, if that is much longer than those of other ranks. */
static void append_loads(const struct ranks *ranks, struct text *text)
{
	double sums[2] = {0, 0}, counts[2] = {0, 0};

	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->rows[i].finding.load_mean_ns > 0) {
			sums[ranks->blames[i].is_culprit] += ranks->rows[i].finding.load_mean_ns;
			counts[ranks->blames[i].is_culprit]++;
		}
	if (!(sums[1] / counts[1] >= LONGER * sums[0] / counts[0]))
		return;
	text_add(text, " %s loads take %s on average, those of other ranks %s. If the samples are "
		 "larger there, shuffle them before they are dealt out to the ranks.",
		 ranks->job.culprit_count == 1 ? "Its" : "Their", UNITS_TIME(sums[1] / counts[1]),
		 UNITS_TIME(sums[0] / counts[0]));
}

static bool is_each_calm(const struct ranks *ranks)
{
	bool is_calm = true;

	for (size_t i = 0; i < ranks->count; i++)
		is_calm &= ranks->rows[i].finding.verdict == STALL_VERDICT_NOT;
	return is_calm;
}

/* Appends which ranks are to blame, or that none is, as far as that can be said. */
static void culprit_words(const struct ranks *ranks, struct text *text)
{
	const struct rank_finding *job = &ranks->job;
	const struct ranks_spread spread = ranks_spread(ranks);
	const bool is_one = job->culprit_count == 1;
	struct ranks_uneven uneven;

	if (job->culprit_count) {
		const char *host = host_of_culprits(ranks);

		text_add(text, is_one ? "Rank " : "Ranks ");
		append_ranks(ranks, ranks_is_culprit, ranks_group(ranks), text);
		text_add(text, "%s%s%s wait%s for data in %s of the lost time, and the others wait "
			 "for %s in the collective. If %s batches were always ready, the job would "
			 "run %s to %s as fast.", host ? " (" : "", host ? host : "",
			 host ? ")" : "", is_one ? "s" : "", UNITS_SHARE(job->blame_share),
			 is_one ? "it" : "them", is_one ? "its" : "their",
			 UNITS_FACTOR(job->gain_least), UNITS_FACTOR(job->gain_most));
		append_loads(ranks, text);
	} else if (job->hidden >= 0) {
		text_add(text, "Rank %" PRId64 " waits longest, but no step is longer for it: "
			 "another rank computes meanwhile. Faster input of this rank alone gains "
			 "little.", ranks->rows[job->hidden].rank);
	} else if (job->starved && ranks->rows[0].is_dispatched) {
		text_add(text, "Rank 0 loads the batches of all ranks and sends each its part: its "
			       "own report says what to do.");
	} else if (ranks_uneven(ranks, &uneven)) {
		const struct rank_row *row = &ranks->rows[uneven.row];
		const bool is_gap = uneven.part == STEP_AFTER &&
				    row->step.between_epochs_ns > uneven.ns / 2;

		text_add(text, "Rank %" PRId64 " spends %s, %s of its time, %s%s, any other rank "
			 "at most %s: the others wait for it there. Look at its own report.",
			 row->rank, UNITS_TIME(uneven.ns),
			 UNITS_SHARE(uneven.ns / row->finding.account.time_ns),
			 step_part_place(&row->step, uneven.part),
			 is_gap ? ", mostly between epochs" : "", UNITS_TIME(uneven.next_ns));
	} else if (job->starved && job->alignment != RANK_ALONE && is_each_calm(ranks)) {
		text_add(text, "Each rank by itself is not input-bound: look first at the steps, "
			       "where nearly all of the time is spent.");
	} else if (job->starved && job->alignment != RANK_ALONE) {
		if (job->blame_share >= MOSTLY && spread.most >= LONGER * spread.median)
			text_add(text, "One rank waits longest in %s of the lost time, but if its "
				 "batches came at once, the others would wait for their own: look",
				 UNITS_SHARE(job->blame_share));
		else
			text_add(text, "No single rank is to blame: look");
		text_add(text, " at what they share (storage, cores, the loader's settings).");
	}
}

static size_t count_hosts(const struct ranks *ranks)
{
	size_t hosts = 0, i;

	for (i = 0; i < ranks->count; i++)
		hosts += i == 0 || !ranks->rows[i].host || !ranks->rows[i - 1].host ||
			 strcmp(ranks->rows[i].host, ranks->rows[i - 1].host) != 0;
	return hosts;
}

bool ranks_in_doubt(const struct ranks *ranks)
{
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->rows[i].finding.verdict == STALL_VERDICT_IN_DOUBT)
			return true;
	return false;
}

const char *ranks_share_words(enum stall_verdict verdict, double ratio, char *text)
{
	if (isnan(ratio) || verdict == STALL_VERDICT_IN_DOUBT)
		return "-";
	return units_share(text, ratio);
}

const char *ranks_count_words(const struct ranks *ranks, char text[RANKS_COUNT])
{
	const size_t without = ranks_without_loader(ranks), hosts = count_hosts(ranks);

	*text = '\0';
	page_append(text, RANKS_COUNT, "%s", UNITS_COUNT((int64_t)ranks->count));
	if (ranks->world_size > (int64_t)ranks->count)
		page_append(text, RANKS_COUNT, " of %s", UNITS_COUNT(ranks->world_size));
	page_append(text, RANKS_COUNT, " ranks on %s host%s", UNITS_COUNT((int64_t)hosts),
		    hosts == 1 ? "" : "s");
	if (without && without < ranks->count)
		page_append(text, RANKS_COUNT, "; %s %s no loader", UNITS_COUNT((int64_t)without),
			    without == 1 ? "has" : "have");
	return text;
}

/* Appends the ranges of missing ranks. */
static void missing_words(const struct ranks *ranks, struct text *text)
{
	int64_t next = 0;
	size_t named = 0;

	for (size_t i = 0; i <= ranks->count && next < ranks->world_size; i++) {
		int64_t end = ranks->world_size;

		if (i < ranks->count && ranks->rows[i].rank < end)
			end = ranks->rows[i].rank;
		if (end > next && !append_range(text, &named, next, end - 1))
			return;
		if (end >= next && end < ranks->world_size)
			next = end + 1;
	}
}

#define ALIGNMENT_WORDS 120
static const char *alignment_words(const struct rank_finding *job, char text[ALIGNMENT_WORDS])
{
	switch (job->alignment) {
	case RANK_BY_STEP:
		if (job->width == 1)
			return "by step: where one rank waits, all take longer";
		snprintf(text, ALIGNMENT_WORDS,
			 "by windows of %d steps: where one rank waits, all take longer, if not in "
			 "the same step",
			 job->width);
		return text;
	case RANK_BY_CLOCK:
		return "by the hosts' clocks, as if they agreed: batches cannot be matched by "
		       "number";
	case RANK_ALONE:
	case RANK_ALIGNMENTS:
		break;
	}
	if (job->shifted_count)
		return "not at all: neither their batches' numbers nor the clocks tell which steps "
		       "belong together, so each is judged alone";
	return "not at all: the ranks do not wait for each other, so each is judged alone";
}

/* Names the rank that waits least in collectives, since the other ranks wait for it there. */
static void collectives_words(const struct ranks *ranks, struct text *text)
{
	const struct rank_row *least = NULL, *most = NULL;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct rank_row *row = &ranks->rows[i];

		if (isnan(row->alone_share))
			continue;
		if (!least || row->alone_share < least->alone_share)
			least = row;
		if (!most || row->alone_share > most->alone_share)
			most = row;
	}
	if (least == most || most->alone_share < COLLECTIVES)
		return;
	text_add(text, "the GPU of rank %" PRId64 " is in collectives alone %s of the time, that "
		 "of rank %" PRId64 " %s", least->rank, UNITS_SHARE(least->alone_share), most->rank,
		 UNITS_SHARE(most->alone_share));
	if (most->alone_share - least->alone_share >= COLLECTIVES)
		text_add(text, ": the others wait for rank %" PRId64, least->rank);
}

static void add_head(const struct ranks *ranks, struct outline *o)
{
	char count[RANKS_COUNT], id[RANKS_ID];

	outline_items(o, OUTLINE_HEAD);
	ranks_count_words(ranks, count);
	if (ranks->job_id)
		outline_item(o, "", "job %s, %s", ranks_id_words(ranks, id), count);
	else
		outline_item(o, "", "%s", count);
	outline_cell(o, "%s", ranks->path);
}

static void add_verdict(const struct ranks *ranks, struct outline *o)
{
	const struct rank_finding *job = &ranks->job;
	const struct verdict *verdict = verdict_of(job->verdict);
	struct text groups = TEXT_OF(600), culprits = TEXT_OF(600);
	char sentence[VERDICT_SENTENCE];

	outline_items(o, OUTLINE_VERDICT);
	outline_first(o, verdict->tone, "%s", verdict->words);
	outline_cell(o, "%s",
		     job->verdict == STALL_VERDICT_INCOMPLETE ? "no rank has batches to judge by"
		     : job->verdict == STALL_VERDICT_IN_DOUBT ? VERDICT_DOUBT
							      : verdict_words(job, sentence));
	if (job->verdict == STALL_VERDICT_IN_DOUBT) {
		outline_cell(o, "The report of a rank that is in doubt says why: --rank N.");
		return;
	}
	groups_words(ranks, &groups);
	if (*groups.words)
		outline_cell(o, "%s", groups.words);
	culprit_words(ranks, &culprits);
	if (*culprits.words)
		outline_cell(o, "%s", culprits.words);
}

static void add_rows_of(const struct outline *from, const char *chapter, struct outline *o)
{
	const struct outline_block *block = outline_find(from, chapter);
	const bool is_next = strcmp(chapter, SCREEN_NEXT) == 0;

	for (size_t i = 0; i < block->count; i++) {
		const struct outline_row *row = &block->rows[i];

		if (!is_next) {
			outline_item(o, row->cells[0], "%s", row->cells[1]);
			continue;
		}
		outline_item(o, i ? "" : "Next", "%s %s", row->cells[0], row->cells[1]);
		if (!i && row->count > 2 && *row->cells[2])
			outline_item(o, "", "%s", row->cells[2]);
	}
}

/* Shows cause and remedies of the rank to look at first, if its own report has any. */
static void add_why(const struct ranks *ranks, struct outline *o)
{
	struct outline own;

	if (!ranks->worst)
		return;
	o->failed |= screen_outline(ranks->worst, false, &own) < 0;
	if (outline_find(&own, SCREEN_NEXT)->count) {
		outline_items(o, RANKS_WHY);
		outline_title(
			o, "Rank %" PRId64 ", by its own report (gains are those of this rank):",
			ranks->rows[ranks_worst(ranks)].rank);
		add_rows_of(&own, SCREEN_WHY, o);
		add_rows_of(&own, SCREEN_LINE, o);
		add_rows_of(&own, SCREEN_NEXT, o);
	}
	outline_done(&own);
}

/* Returns a GPU's place on the bus, which tells GPUs of the same model apart. */
static const char *place_of(const char *gpu)
{
	const char *at = gpu ? strstr(gpu, " at ") : NULL;

	return at ? at + 4 : gpu ? gpu : "";
}

static void add_row(const struct ranks *ranks, size_t i, bool with_paths, struct outline *o)
{
	const struct rank_row *row = &ranks->rows[i];
	const struct finding *f = &row->finding;
	const struct verdict *verdict = verdict_of(f->verdict);
	double share = ranks_blame_share(ranks, i);
	char text[UNITS_MAX];

	outline_first(o, PAGE_PLAIN, "%" PRId64 "%s", row->rank,
		      ranks->blames[i].is_culprit ? "*" : "");
	outline_more(o, UNITS_COUNT((int64_t)f->batch_count),
		     f->own.count ? UNITS_TIME(f->own.time_ns / (double)f->own.count) : "-",
		     ranks_share_words(f->verdict, f->stall_ratio, text),
		     isnan(share) ? "-" : UNITS_SHARE(share));
	outline_sign(o, verdict->sign);
	outline_cell(o, "%s%s", verdict->word, row->live ? ", still recording" : "");
	outline_cell(o, "%s%s%s", row->host ? row->host : "-", row->gpu ? ", " : "",
		     place_of(row->gpu));
	if (with_paths)
		outline_cell(o, "%s", row->path);
}

static void add_rows(const struct ranks *ranks, size_t most, bool with_paths, struct outline *o)
{
	size_t *order = malloc(ranks->count * sizeof(*order));

	o->failed |= !order;
	outline_table(o, "ranks", "#Rank", "#Batches", "#Each", "#Stall", "#To blame",
		      "Input-bound", "Host, GPU", with_paths ? "Run" : NULL);
	if (!order)
		return;
	if (ranks->count > RANKS_MOST_ROWS)
		outline_title(o, "The ranks that are to blame for most come first");
	ranks_order(ranks, order);
	for (size_t i = 0; i < ranks->count && i < most; i++)
		add_row(ranks, order[i], with_paths, o);
	free(order);
}

static void add_clock(const struct ranks *ranks, struct outline *o)
{
	size_t by_gpu = 0;
	char rest[80] = "";

	for (size_t i = 0; i < ranks->count; i++)
		by_gpu += ranks->rows[i].finding.by_gpu;
	if (by_gpu && by_gpu < ranks->count)
		snprintf(rest, sizeof(rest), ", in %zu of the ranks; else %s, " VERDICT_BOUND,
			 by_gpu, verdict_clocks[false].name);
	if (by_gpu)
		outline_item(o, "Clock", "%s%s", verdict_clocks[true].meaning, rest);
}

static void add_ended(const struct ranks *ranks, struct outline *o)
{
	const struct rank_row *first = NULL;
	char more[56] = "";
	size_t count = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct rank_row *row = &ranks->rows[i];

		count += *row->ended != '\0';
		if (*row->ended && (!first || (first->is_terminated && !row->is_terminated)))
			first = row;
	}
	if (count > 1)
		snprintf(more, sizeof(more), "; %zu more rank%s did not end well", count - 1,
			 count > 2 ? "s" : "");
	if (first)
		outline_item(o, "End", "rank %" PRId64 ": %s%s", first->rank, first->ended, more);
}

static void add_limits(const struct ranks *ranks, struct outline *o)
{
	const struct ranks_spread spread = ranks_spread(ranks);
	struct text missing = TEXT_OF(600), collectives = TEXT_OF(600);
	char text[RANKS_DOUBT];

	outline_items(o, RANKS_LIMITS);
	missing_words(ranks, &missing);
	if (*missing.words)
		outline_item(o, "Missing",
			     "%s: no database of theirs is here. A rank that uses neither a loader "
			     "nor a GPU has none",
			     missing.words);
	add_ended(ranks, o);
	if (!isnan(spread.median))
		outline_item(o, "Spread",
			     "the ranks wait for %s to %s of their time, half of them for %s at "
			     "most",
			     UNITS_SHARE(spread.least), UNITS_SHARE(spread.most),
			     UNITS_SHARE(spread.median));
	add_clock(ranks, o);
	collectives_words(ranks, &collectives);
	if (*collectives.words)
		outline_item(o, "Waits", "%s", collectives.words);
	outline_item(o, "Aligned", "%s", alignment_words(&ranks->job, text));
	if (ranks->job.step_count)
		outline_item(o, "Steps", "%s", UNITS_COUNT((int64_t)ranks->job.step_count));
	for (size_t i = 0; i < RANKS_DOUBTS; i++)
		if (ranks_doubt(ranks, i, text))
			outline_item(o, "Less sure", "%s", text);
}

static void add_legend(const struct ranks *ranks, size_t most, struct outline *o)
{
	outline_items(o, "ranks");
	if (ranks->count > most)
		outline_item(o, "", "and %zu more; --json has all", ranks->count - most);
	if (ranks->job.culprit_count)
		outline_item(o, "*", "%s",
			     ranks->job.group_count         ? "a culprit of its group"
			     : ranks->job.culprit_count > 1 ? "the culprits"
							    : "the culprit");
	outline_item(o, "Each", "time of a batch: its wait and its step");
	outline_item(o, "To blame", "share of the lost time in which the rank waited longest");
}

int ranks_outline(const struct ranks *ranks, size_t most, bool with_paths, struct outline *o)
{
	*o = (struct outline){0};
	add_head(ranks, o);
	add_verdict(ranks, o);
	add_why(ranks, o);
	if (most) {
		add_rows(ranks, most, with_paths, o);
		add_legend(ranks, most, o);
	}
	add_limits(ranks, o);
	outline_items(o, OUTLINE_MORE);
	outline_item(o, "More", "dlprof-report %s", ranks->rows[ranks_worst(ranks)].path);
	return o->failed ? -ENOMEM : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "render/ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "render/units.h"
#include "render/verdict.h"

#define COLLECTIVES 0.1 /* of the time: worth a line, and worth naming who is waited for */

const char *ranks_verdict_words(const struct rank_finding *job, char text[VERDICT_SENTENCE])
{
	const bool is_most = job->alignment != RANK_ALONE && !job->is_exact;

	return verdict_sentence(text,
				job->group_count ? VERDICT_GROUP
				: is_most        ? VERDICT_JOB_MOST
						 : VERDICT_JOB,
				job->stall_ratio);
}

#define RANKS_MOST_NAMED 8

static void print_verdict(const struct ranks *ranks, const struct page *page)
{
	const struct rank_finding *job = &ranks->job;
	const struct verdict *verdict = verdict_of(job->verdict);
	char sentence[VERDICT_SENTENCE];

	page_color(page, verdict->tone);
	page_entry(page, 2, 2 + (int)strlen(verdict->words) + 3, verdict->words, "%s",
		   job->verdict == STALL_VERDICT_INCOMPLETE ? "no rank has batches to judge by"
							    : ranks_verdict_words(job, sentence));
	page_color(page, PAGE_PLAIN);
}

/* "3, 8-15" of the ranks whose group or guilt it is, the first few of them. */
static void append_ranks(const struct ranks *ranks, ranks_filter *is_meant, int which, char *text,
			 size_t size)
{
	size_t named = 0, i, end;

	for (i = 0; i < ranks->count; i = end) {
		end = i + 1;
		if (!is_meant(&ranks->blames[i], which))
			continue;
		while (end < ranks->count && is_meant(&ranks->blames[end], which) &&
		       ranks->rows[end].rank == ranks->rows[end - 1].rank + 1)
			end++;
		if (named++ == RANKS_MOST_NAMED) {
			page_append(text, size, ", ...");
			return;
		}
		page_append(text, size, end > i + 1 ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64,
			    named > 1 ? ", " : "", ranks->rows[i].rank, ranks->rows[end - 1].rank);
	}
}

bool ranks_is_in_group(const struct rank_blame *blame, int group)
{
	return blame->group == group;
}

bool ranks_is_culprit(const struct rank_blame *blame, int group)
{
	return blame->is_culprit && (blame->group == group || group < 0);
}

/* The host that they all ran on; NULL: several, or not known. */
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

int ranks_group(const struct ranks *ranks)
{
	return ranks->job.group_count ? (int)ranks->job.group : -1;
}

static size_t size_of_group(const struct ranks *ranks, int group)
{
	size_t count = 0;

	for (size_t i = 0; i < ranks->count; i++)
		count += ranks_is_in_group(&ranks->blames[i], group);
	return count;
}

void ranks_groups_words(const struct ranks *ranks, char *text, size_t size)
{
	const struct rank_finding *job = &ranks->job;

	*text = '\0';
	for (size_t i = 0; i < job->group_count; i++) {
		if (i == RANKS_MOST_NAMED) {
			page_append(text, size, " and others");
			break;
		}
		page_append(text, size, i ? i + 1 < job->group_count ? ", " : " and " : "Ranks ");
		append_ranks(ranks, ranks_is_in_group, (int)i, text, size);
	}
	if (!job->group_count)
		return;
	page_append(text, size, " do not wait for each other. %s ",
		    size_of_group(ranks, (int)job->group) > 1 ? "Ranks" : "Rank");
	append_ranks(ranks, ranks_is_in_group, (int)job->group, text, size);
	page_append(text, size, " lose%s %s of %s time, more than any other.",
		    size_of_group(ranks, (int)job->group) > 1 ? "" : "s",
		    UNITS_SHARE(job->stall_ratio),
		    size_of_group(ranks, (int)job->group) > 1 ? "their" : "its");
}

void ranks_culprit_words(const struct ranks *ranks, char *text, size_t size)
{
	const struct rank_finding *job = &ranks->job;
	const bool is_one = job->culprit_count == 1;
	char share[UNITS_MAX], least[UNITS_MAX], most[UNITS_MAX];

	*text = '\0';
	if (job->culprit_count) {
		const char *host = host_of_culprits(ranks);

		page_append(text, size, is_one ? "Rank " : "Ranks ");
		append_ranks(ranks, ranks_is_culprit, ranks_group(ranks), text, size);
		page_append(
			text, size,
			"%s%s%s wait%s for data in %s of the lost time, and the others wait for %s "
			"in the collective. If %s batches were always ready, the job would run %s "
			"to %s as fast.",
			host ? " (" : "", host ? host : "", host ? ")" : "", is_one ? "s" : "",
			units_share(share, job->blame_share), is_one ? "it" : "them",
			is_one ? "its" : "their", units_factor(least, job->gain_least),
			units_factor(most, job->gain_most));
	} else if (job->hidden >= 0) {
		page_append(
			text, size,
			"Rank %" PRId64 " waits longest, but no step is longer for it: another "
			"rank computes meanwhile. Faster input of this rank alone gains little.",
			ranks->rows[job->hidden].rank);
	} else if (job->starved && job->alignment != RANK_ALONE) {
		page_append(text, size,
			    "No single rank is to blame: look at what they share (storage, cores, "
			    "the loader's settings).");
	}
}

static void print_culprit(const struct ranks *ranks, const struct page *page)
{
	char text[600];

	ranks_groups_words(ranks, text, sizeof(text));
	if (*text)
		page_entry(page, 2, 2, "", "%s", text);
	ranks_culprit_words(ranks, text, sizeof(text));
	if (*text)
		page_entry(page, 2, 2, "", "%s", text);
	page_break(page);
}

double ranks_blame_share(const struct ranks *ranks, size_t i)
{
	const struct rank_finding *job = &ranks->job;
	const int32_t group = ranks->blames[i].group;

	if (group >= 0)
		return job->groups[group].meets
			       ? ranks->blames[i].wait_ns / job->groups[group].wait_ns
			       : NAN;
	return job->alignment == RANK_ALONE ? NAN : ranks->blames[i].wait_ns / job->wait_ns;
}

struct ranks_spread ranks_spread(const struct ranks *ranks)
{
	double *ratios = malloc(ranks->count * sizeof(*ratios));
	struct ranks_spread spread = {NAN, NAN, NAN};
	size_t count = 0, i;

	for (i = 0; ratios && i < ranks->count; i++)
		if (!isnan(ranks->rows[i].finding.stall_ratio))
			ratios[count++] = ranks->rows[i].finding.stall_ratio;
	if (count) {
		stats_sort(ratios, count);
		spread = (struct ranks_spread){ratios[0], ratios[(count - 1) / 2],
					       ratios[count - 1]};
	}
	free(ratios);
	return spread;
}

size_t ranks_host_count(const struct ranks *ranks)
{
	size_t hosts = 0, i;

	for (i = 0; i < ranks->count; i++)
		hosts += i == 0 || !ranks->rows[i].host || !ranks->rows[i - 1].host ||
			 strcmp(ranks->rows[i].host, ranks->rows[i - 1].host) != 0;
	return hosts;
}

size_t ranks_without_loader(const struct ranks *ranks)
{
	size_t count = 0, i;

	for (i = 0; i < ranks->count; i++)
		count += ranks->rows[i].finding.gap == STALL_GAP_NO_BATCHES;
	return count;
}

void ranks_count_words(const struct ranks *ranks, char *text, size_t size)
{
	const size_t without = ranks_without_loader(ranks), hosts = ranks_host_count(ranks);
	char seen[UNITS_MAX], all[UNITS_MAX];

	*text = '\0';
	page_append(text, size, "%s", units_count(seen, (int64_t)ranks->count));
	if (ranks->world_size > (int64_t)ranks->count)
		page_append(text, size, " of %s", units_count(all, ranks->world_size));
	page_append(text, size, " ranks on %s host%s", units_count(all, (int64_t)hosts),
		    hosts == 1 ? "" : "s");
	if (without && without < ranks->count)
		page_append(text, size, "; %s %s no loader", units_count(all, (int64_t)without),
			    without == 1 ? "has" : "have");
}

void ranks_missing_words(const struct ranks *ranks, char *text, size_t size)
{
	int64_t next = 0, end;
	size_t i = 0, named = 0;

	*text = '\0';
	while (next < ranks->world_size) {
		end = i < ranks->count ? ranks->rows[i].rank : ranks->world_size;
		if (end > ranks->world_size)
			end = ranks->world_size;
		if (end > next && named++ == RANKS_MOST_NAMED) {
			page_append(text, size, ", ...");
			return;
		}
		if (end > next)
			page_append(text, size,
				    end > next + 1 ? "%s%" PRId64 "-%" PRId64 : "%s%" PRId64,
				    *text ? ", " : "", next, end - 1);
		next = end + 1;
		i++;
	}
}

size_t ranks_worst(const struct ranks *ranks)
{
	size_t worst = 0, i;

	for (i = 0; i < ranks->count; i++)
		if (ranks->blames[i].wait_ns > ranks->blames[worst].wait_ns)
			worst = i;
	return worst;
}

static int by_blame(const void *a, const void *b, void *context)
{
	const struct ranks *ranks = context;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	double x = ranks->blames[left].wait_ns, y = ranks->blames[right].wait_ns;
	double u = ranks->rows[left].finding.stall_ratio,
	       v = ranks->rows[right].finding.stall_ratio;

	if (x != y)
		return x > y ? -1 : 1;
	if (u != v && !(isnan(u) && isnan(v)))
		return u > v || isnan(v) ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Where the device is, which is what differs, or its name. */
static const char *place_of(const char *gpu)
{
	const char *at = gpu ? strstr(gpu, " at ") : NULL;

	return at ? at + 4 : gpu ? gpu : "";
}

static void print_row(const struct ranks *ranks, size_t i, const struct page *page)
{
	const struct rank_row *row = &ranks->rows[i];
	const struct finding *f = &row->finding;
	char batches[UNITS_MAX], stall[UNITS_MAX], blame[UNITS_MAX], step[UNITS_MAX];
	double share = ranks_blame_share(ranks, i);

	page_line(page, "  %4" PRId64 "%c %9s %9s %8s %9s  %-10s  %-*s%s%s", row->rank,
		  ranks->blames[i].is_culprit ? '*' : ' ',
		  units_count(batches, (int64_t)f->batch_count),
		  units_time(step, f->own.time_ns / (double)f->own.count),
		  units_share(stall, f->stall_ratio),
		  isnan(share) ? "-" : units_share(blame, share), verdict_of(f->verdict)->word,
		  ranks->rows[0].gpu ? 14 : 0, place_of(row->gpu), row->host ? row->host : "",
		  row->live ? " (still recording)" : "");
}

void ranks_order(const struct ranks *ranks, size_t *ret)
{
	for (size_t i = 0; i < ranks->count; i++)
		ret[i] = i;
	if (ranks->count > RANKS_MOST_ROWS)
		qsort_r(ret, ranks->count, sizeof(*ret), by_blame, (void *)(uintptr_t)ranks);
}

static void print_table(const struct ranks *ranks, const struct page *page)
{
	size_t *order = malloc(ranks->count * sizeof(*order)), i;

	page_line(page, "  rank    batches      step    stall  to blame  verdict     %shost",
		  ranks->rows[0].gpu ? "GPU           " : "");
	if (order)
		ranks_order(ranks, order);
	for (i = 0; i < ranks->count && i < RANKS_MOST_ROWS; i++)
		print_row(ranks, order ? order[i] : i, page);
	if (ranks->count > RANKS_MOST_ROWS)
		page_line(page, "  and %zu more; --json has all", ranks->count - RANKS_MOST_ROWS);
	page_break(page);
	free(order);
}

const char *ranks_alignment_words(const struct rank_finding *job, char text[RANKS_WORDS])
{
	switch (job->alignment) {
	case RANK_BY_STEP:
		if (job->width == 1)
			return "by step: where one rank waits, all take longer";
		snprintf(text, RANKS_WORDS,
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

/* Ranks with different clocks share one verdict, so the report says which clocks. */
static void print_clock(const struct ranks *ranks, const struct page *page)
{
	size_t by_gpu = 0, i;

	for (i = 0; i < ranks->count; i++)
		by_gpu += ranks->rows[i].finding.by_gpu;
	if (by_gpu == ranks->count)
		page_item(page, "Clock", "the GPUs': waits while they were idle");
	else if (by_gpu)
		page_item(page, "Clock",
			  "the GPU's of %zu ranks; of the others the host's, an upper bound",
			  by_gpu);
}

/* A collective lasts until the last rank has come: who comes last waits least in it. */
void ranks_collectives_words(const struct ranks *ranks, char *text, size_t size)
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
	*text = '\0';
	if (least == most || most->alone_share < COLLECTIVES)
		return;
	page_append(text, size,
		    "the GPU of rank %" PRId64 " is in collectives alone %s of the time, that of "
		    "rank %" PRId64 " %s",
		    least->rank, UNITS_SHARE(least->alone_share), most->rank,
		    UNITS_SHARE(most->alone_share));
	if (most->alone_share - least->alone_share >= COLLECTIVES)
		page_append(text, size, ": the others wait for rank %" PRId64, least->rank);
}

static void print_spread(const struct ranks *ranks, const struct page *page)
{
	const struct ranks_spread spread = ranks_spread(ranks);
	char least[UNITS_MAX], median[UNITS_MAX], most[UNITS_MAX];

	if (!isnan(spread.median))
		page_item(page, "Spread",
			  "the ranks wait for %s to %s of their time, half of "
			  "them for %s at most",
			  units_share(least, spread.least), units_share(most, spread.most),
			  units_share(median, spread.median));
}

void ranks_text(const struct ranks *ranks, const struct page *page)
{
	char words[RANKS_WORDS], text[600], id[JOBS_ID];

	ranks_count_words(ranks, text, sizeof(text));
	page_line(page, "dlprof  %s  %s", ranks->path, text);
	page_break(page);
	print_verdict(ranks, page);
	print_culprit(ranks, page);
	print_table(ranks, page);
	if (ranks->job_id)
		page_item(page, "Job", "%s", jobs_id_words(ranks, id));
	if (ranks->job.culprit_count)
		page_item(page, "*", ranks->job.culprit_count > 1 ? "the culprits" : "the culprit");
	ranks_missing_words(ranks, text, sizeof(text));
	if (*text)
		page_item(page, "Missing",
			  "%s: no database of theirs is here. A rank that uses neither a loader "
			  "nor a GPU has none",
			  text);
	print_spread(ranks, page);
	print_clock(ranks, page);
	ranks_collectives_words(ranks, text, sizeof(text));
	if (*text)
		page_item(page, "Waits", "%s", text);
	page_item(page, "To blame", "share of the lost time in which the rank waited longest");
	page_item(page, "Aligned", "%s", ranks_alignment_words(&ranks->job, words));
	for (size_t i = 0; ranks_doubt_words(ranks, &i, text);)
		page_item(page, "Sure", "less: %s", text);
	page_item(page, "More", "dlprof-report %s", ranks->rows[ranks_worst(ranks)].path);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ranks/merge.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/ranks/rank_group.h"

#define WIDEST ((int64_t)1 << (WINDOW_WIDTHS - 1))

static int merge_epochs(struct rank_job *whole, const struct rank_job *part)
{
	struct rank_base *merged =
		calloc(whole->epoch_count + part->epoch_count + 1, sizeof(*merged));
	size_t count = 0, a = 0, b = 0;

	if (!merged)
		return -ENOMEM;
	while (a < whole->epoch_count || b < part->epoch_count) {
		const struct rank_base *old = a < whole->epoch_count ? &whole->epochs[a] : NULL;
		const struct rank_base *new = b < part->epoch_count ? &part->epochs[b] : NULL;
		bool is_old = old && (!new || old->epoch <= new->epoch);
		bool is_new = new && (!old || new->epoch <= old->epoch);

		merged[count] = is_old ? *old : *new;
		if (is_old && is_new && new->length > old->length)
			merged[count].length = new->length;
		count++;
		a += is_old;
		b += is_new;
	}
	free(whole->epochs);
	whole->epochs = merged;
	whole->epoch_count = count;
	return 0;
}

int merge_frame(struct rank_job *whole, const struct rank_job *part)
{
	if (part->bin_ns) {
		if (!whole->bin_ns || part->origin_ns < whole->origin_ns)
			whole->origin_ns = part->origin_ns;
		if (part->bin_ns > whole->bin_ns)
			whole->bin_ns = part->bin_ns;
		/* How wide bins of time are depends on the mean step of the job's first rank. */
		if (!whole->step_ns)
			whole->step_ns = part->step_ns;
	}
	return merge_epochs(whole, part);
}

void merge_settle(struct rank_job *whole)
{
	for (size_t i = 0; i < whole->epoch_count; i++)
		whole->epochs[i].base = i ? rank_behind(&whole->epochs[i - 1]) : 0;
	if (whole->bin_ns)
		whole->origin_ns -= whole->origin_ns % (WIDEST * whole->bin_ns);
}

static void renumber(struct windows *windows, const int32_t *numbers)
{
	for (int i = 0; i < WINDOW_WIDTHS; i++)
		for (size_t k = 0; k < windows->widths[i].count; k++)
			windows->widths[i].list[k].rank = numbers[windows->widths[i].list[k].rank];
}

static int add_epochs(struct rank_job *whole, const struct rank_job *part,
		      const struct windows *windows, int width, struct windows *to)
{
	const struct window_width *from = &windows->widths[width];
	const size_t round = ((size_t)1 << width) - 1;
	size_t at = 0;
	int r = 0;

	if (from->is_full)
		return window_merge(to, width, WINDOW_MOST, NULL, 1);
	for (size_t i = 0; r == 0 && i < part->epoch_count; i++) {
		const struct rank_base *epoch = &part->epochs[i];
		size_t begin = epoch->base >> width;
		size_t end = (epoch->base + epoch->length + round) >> width;

		while (whole->epochs[at].epoch < epoch->epoch)
			at++;
		if (end > from->count)
			end = from->count;
		if (begin < end)
			r = window_merge(to, width, whole->epochs[at].base >> width,
					 from->list + begin, end - begin);
	}
	return r;
}

/* Adds a part's bins, which may be narrower than the job's and be made for another mean step. */
static int add_bins(struct rank_job *whole, struct rank_job *part, int width)
{
	const float scale = (float)((double)whole->step_ns / (double)part->step_ns);
	int finer = 0;
	struct window_width *from;
	int64_t bin_ns;

	while (part->bin_ns << finer < whole->bin_ns)
		finer++;
	from = &part->by_clock.widths[width + finer < WINDOW_WIDTHS ? width + finer : 0];
	bin_ns = whole->bin_ns << width;
	if (width + finer >= WINDOW_WIDTHS || from->is_full ||
	    (part->origin_ns - whole->origin_ns) % bin_ns)
		return window_merge(&whole->by_clock, width, WINDOW_MOST, NULL, 1);
	for (size_t i = 0; i < from->count; i++) {
		from->list[i].pace_ns *= scale;
		from->list[i].sum_ns *= scale;
	}
	return window_merge(&whole->by_clock, width,
			    (size_t)((part->origin_ns - whole->origin_ns) / bin_ns), from->list,
			    from->count);
}

static int add_group(struct rank_job *whole, const struct rank_job *part, size_t number,
		     const int32_t *numbers)
{
	struct rank_group *group = &part->groups[number], *to;
	int32_t at;
	int r = rank_group_find(whole, &group->sums.pace, &at);

	if (r < 0)
		return r;
	to = &whole->groups[at];
	renumber(&group->by_step, numbers);
	for (int width = 0; r == 0 && width < WINDOW_WIDTHS; width++)
		r = add_epochs(whole, part, &group->by_step, width, &to->by_step);
	window_add_sums(&to->by_step, &group->by_step);
	rank_group_count(&to->sums, &group->sums);
	for (size_t i = 0; i < part->rank_count; i++) {
		struct rank_member *member = &whole->members[numbers[i]];

		if (part->members[i].group == (int32_t)number) {
			*member = part->members[i];
			member->group = at;
		}
	}
	return r;
}

int merge_add(struct rank_job *whole, struct rank_job *part, const int32_t *numbers)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < part->group_count; i++)
		r = add_group(whole, part, i, numbers);
	renumber(&part->by_clock, numbers);
	for (int width = 0; r == 0 && part->bin_ns && width < WINDOW_WIDTHS; width++)
		r = add_bins(whole, part, width);
	window_add_sums(&whole->by_clock, &part->by_clock);
	whole->rank_count += part->rank_count;
	return r;
}

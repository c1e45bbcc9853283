/* SPDX-License-Identifier: Apache-2.0 */
/* gate_judge.c - judges each limit for each run, rank by rank, and from this the gate. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/gate/gate.h"

static void judge_limit(const struct gate *gate, struct gate_item *item)
{
	for (size_t i = 0; i < gate->runs.count; i++) {
		struct gate_result result;

		gate_judge(&item->limit, &gate->runs.list[i].sample, &result);
		result.run = i;
		if (!i || gate_is_worse(&item->limit, &result, &item->result))
			item->result = result;
	}
}

struct ranked {
	double before[GATE_MOST_BASELINES], now[GATE_MOST_BASELINES], error[GATE_MOST_BASELINES];
	size_t before_count, now_count;
};

static enum gate_why collect(const struct gate *gate, size_t first, struct ranked *ret)
{
	const struct gate_run *head = &gate->runs.list[first];
	enum gate_why why = GATE_WHY_NONE;
	char difference[200];

	*ret = (struct ranked){.now_count = 0};
	for (size_t i = first; i < gate->runs.count && ret->now_count < GATE_MOST_BASELINES; i++) {
		const struct gate_run *run = &gate->runs.list[i];

		if (run->info.rank != head->info.rank)
			continue;
		gate_runs_difference(head, run, difference, sizeof(difference));
		if (*difference)
			why = GATE_WHY_UNLIKE;
		if (run->sample.unfit != GATE_FIT)
			return GATE_WHY_UNFIT;
		ret->now[ret->now_count] = run->sample.value[GATE_STALL_RATIO];
		ret->error[ret->now_count++] = run->sample.error;
	}
	for (size_t i = gate->baselines.count;
	     i-- > 0 && ret->before_count < GATE_MOST_BASELINES;) {
		const struct gate_run *run = &gate->baselines.list[i];

		if (run->used && run->info.rank == head->info.rank)
			ret->before[ret->before_count++] = run->sample.value[GATE_STALL_RATIO];
	}
	return why;
}

static bool is_first_of_rank(const struct gate *gate, size_t run)
{
	for (size_t i = 0; i < run; i++)
		if (gate->runs.list[i].info.rank == gate->runs.list[run].info.rank)
			return false;
	return true;
}

/* Returns a run that cannot be judged, of the same rank as `first`; `first` if there is none. */
static size_t unfit_run(const struct gate *gate, size_t first)
{
	for (size_t i = first; i < gate->runs.count; i++)
		if (gate->runs.list[i].info.rank == gate->runs.list[first].info.rank &&
		    gate->runs.list[i].sample.unfit != GATE_FIT)
			return i;
	return first;
}

/* Judges the rise above baselines for each rank. The worst result counts. */
static void judge_increase(const struct gate *gate, struct gate_item *item)
{
	struct ranked *ranked = malloc(sizeof(*ranked));
	bool is_first = true;

	gate_judge_increase(&item->limit, &(struct gate_groups){.now_count = 0}, &item->result);
	for (size_t i = 0; ranked && i < gate->runs.count; i++) {
		struct gate_result result;
		enum gate_why why;

		if (!is_first_of_rank(gate, i))
			continue;
		why = collect(gate, i, ranked);
		gate_judge_increase(&item->limit,
				    &(struct gate_groups){ranked->before, ranked->before_count,
							  ranked->now, ranked->error,
							  ranked->now_count},
				    &result);
		result.run = unfit_run(gate, i);
		if (why != GATE_WHY_NONE) {
			result.outcome = GATE_INCONCLUSIVE;
			result.why = why;
		}
		if (is_first || gate_is_worse(&item->limit, &result, &item->result))
			item->result = result;
		is_first = false;
	}
	free(ranked);
}

static void conclude(struct gate_report *report)
{
	report->outcome = GATE_PASSED;
	report->status = CMD_DONE;
	for (size_t i = 0; i < report->item_count; i++) {
		const struct gate_item *item = &report->items[i];

		if (!item->is_error)
			continue;
		if (item->result.outcome > report->outcome)
			report->outcome = item->result.outcome;
		if (item->result.outcome == GATE_INCONCLUSIVE &&
		    item->on_inconclusive == GATE_ACTION_FAIL)
			report->status = CMD_CANNOT_SAY;
	}
	if (report->outcome == GATE_FAILED)
		report->status = CMD_GATE_FAILED;
}

static int find_change(struct gate *gate)
{
	const struct gate_sample **before = calloc(gate->baselines.count + 1, sizeof(*before));
	const struct gate_sample **now = calloc(gate->runs.count + 1, sizeof(*now));
	size_t before_count = 0, now_count = 0, i;

	for (i = 0; before && i < gate->baselines.count; i++)
		if (gate->baselines.list[i].used)
			before[before_count++] = &gate->baselines.list[i].sample;
	for (i = 0; now && i < gate->runs.count; i++)
		if (gate->runs.list[i].sample.unfit == GATE_FIT)
			now[now_count++] = &gate->runs.list[i].sample;
	gate->report.has_change = before_count && now_count;
	if (gate->report.has_change)
		gate_compare(before, before_count, now, now_count, &gate->report.change);
	free(before);
	free(now);
	return before && now ? 0 : cmd_fail("%s", strerror(ENOMEM));
}

int gate_judge_all(struct gate *gate)
{
	const struct options *options = gate->options;
	struct gate_report *report = &gate->report;

	for (size_t i = 0; i < gate->item_count; i++) {
		struct gate_item *item = &gate->items[i];

		if (item->limit.metric == GATE_STALL_INCREASE)
			judge_increase(gate, item);
		else
			judge_limit(gate, item);
		item->on_inconclusive = options->on_inconclusive;
		if (item->result.why == GATE_WHY_BASELINES && options->on_few_baselines >= 0)
			item->on_inconclusive = (enum gate_action)options->on_few_baselines;
	}
	report->items = gate->items;
	report->item_count = gate->item_count;
	report->runs = gate->runs.list;
	report->run_count = gate->runs.count;
	report->baselines = gate->baselines.list;
	report->baseline_count = gate->baselines.count;
	conclude(report);
	return find_change(gate);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/lines/targets.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"
#include "drain/base/now.h"
#include "drain/lines/seen_stacks.h"

#define AGAIN_NS UINT64_C(5000000000)
#define TRIES    5

bool target_trains(const struct target *target)
{
	return target->segment && target->askers[0];
}

bool target_loads(const struct target *target)
{
	return target->segment && target->segment->joined.role &&
	       strcmp(target->segment->joined.role, "worker") == 0;
}

struct target *targets_find(const struct targets *targets, int32_t pid)
{
	for (size_t i = 0; i < targets->count; i++)
		if (targets->list[i].pid == pid && targets->list[i].segment)
			return &targets->list[i];
	return NULL;
}

static struct target begin(const struct dlprof_header *header)
{
	const uint64_t now = now_ns();

	return (struct target){
		.pid = header->pid,
		.start_ticks = header->start_ticks,
		.begun_ns = header->created_ns,
		.loaded_ns = now,
		.moved_ns = now,
		.stack = SEEN_NONE,
	};
}

static struct target *add(struct targets *targets, const struct dlprof_header *header)
{
	struct target *target = NULL;

	for (size_t i = 0; !target && i < targets->count; i++)
		if (!targets->list[i].segment)
			target = &targets->list[i];
	if (!target && !ARRAY_GROW(targets->list, targets->count))
		return NULL;
	if (!target)
		target = &targets->list[targets->count++];
	*target = begin(header);
	return target;
}

static bool is_process(const struct target *target, const struct segment *segment)
{
	return target->pid == segment->header->pid &&
	       target->start_ticks == segment->header->start_ticks;
}

/* Begins a target again, as its process became another program. Only `is_told` is kept. */
static void begin_anew(struct target *target, const struct dlprof_header *header)
{
	const bool is_told = target->is_told;

	python_close(target->python);
	*target = begin(header);
	target->is_told = is_told;
}

static bool keep(struct targets *targets, struct segment *segment)
{
	for (size_t i = 0; i < targets->count; i++) {
		struct target *target = &targets->list[i];

		if (!is_process(target, segment))
			continue;
		if (target->begun_ns != segment->header->created_ns)
			begin_anew(target, segment->header);
		target->segment = segment;
		return true;
	}
	return false;
}

static bool is_wanted(const struct segment *segment)
{
	return !segment->dead && !segment->later_ns && segment->joined.role;
}

void targets_follow(struct targets *targets, struct segment *const *segments, size_t count)
{
	struct target *target;

	for (size_t i = 0; i < targets->count; i++)
		targets->list[i].segment = NULL;
	for (size_t i = 0; i < count; i++)
		if (is_wanted(segments[i]))
			keep(targets, segments[i]);
	for (target = targets->list; target < targets->list + targets->count; target++)
		if (!target->segment) {
			python_close(target->python);
			*target = (struct target){.pid = 0};
		}
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(segments[i]) || keep(targets, segments[i]))
			continue;
		target = add(targets, segments[i]->header);
		if (target)
			target->segment = segments[i];
	}
}

static bool is_final(enum reason reason)
{
	return reason != REASON_GONE && reason != REASON_NOT_READY && reason != REASON_NO_MEMORY;
}

bool target_open(struct targets *targets, struct target *target, uint64_t now)
{
	int32_t number;

	if (target->segment->left_ns) {
		python_close(target->python);
		target->python = NULL;
		target->stack = SEEN_NONE;
		return false;
	}
	if (target->python)
		return true;
	if (now < target->open_ns || target->tries >= TRIES)
		return false;
	number = alive_number(&target->segment->alive);
	target->reason = number ? python_open(number, alive_start_ticks(number), &target->python)
				: REASON_GONE;
	target->open_ns = now + AGAIN_NS;
	target->tries = is_final(target->reason) ? TRIES : target->tries + 1;
	if (target->python)
		target->tries = 0;
	if (target->python)
		targets->is_observed = true;
	else if (target->reason != REASON_GONE && !targets->reason)
		targets->reason = target->reason;
	return target->python;
}

void target_note_asker(struct target *target, uint32_t tid)
{
	for (size_t i = 0; i < TARGET_ASKERS; i++) {
		if (target->askers[i] == tid || !tid)
			return;
		if (!target->askers[i]) {
			target->askers[i] = tid;
			return;
		}
	}
	target->askers[TARGET_ASKERS - 1] = tid;
}

void targets_done(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		python_close(targets->list[i].python);
	free(targets->list);
}

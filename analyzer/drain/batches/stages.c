/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/batches/stages.h"

#include <errno.h>

#include "analysis/cause/stages.h"
#include "drain/database/facts.h"

static int64_t known(int32_t value)
{
	return value < 0 ? UNKNOWN : value;
}

static int take_stage(struct writer *writer, const struct segment *segment,
		      struct dlprof_event *event)
{
	struct dlprof_stage *stage = &event->stage;
	const bool is_kernel = stage->flags & DLPROF_STAGE_KERNEL;
	struct stage_row row = {
		.pid = segment->header->pid,
		.number = facts_loader(segment, event->task),
		.parent = stage->parent ? facts_loader(segment, stage->parent) : UNKNOWN,
		.kernel = is_kernel,
		.root = (stage->flags & DLPROF_STAGE_ROOT) != 0,
		.autotuned = (stage->flags & DLPROF_STAGE_AUTOTUNED) != 0,
		.parallel = known(stage->parallel),
		.capacity = known(stage->capacity),
		.threads = known(stage->threads),
		.name = stage->name,
	};

	stage->name[sizeof(stage->name) - 1] = '\0';
	row.kind = stage_kind_names[stage_kind_of(stage->name, is_kernel)];
	return writer_stage(writer, &row);
}

static int take_sum(struct writer *writer, const struct segment *segment,
		    const struct dlprof_event *event)
{
	const struct dlprof_stage_sum *sum = &event->stage_sum;
	struct stage_sum_row row = {
		.pid = segment->header->pid,
		.number = facts_loader(segment, event->task),
		.begin_ns = (int64_t)event->begin_ns,
		.window_ns = (int64_t)event->duration_ns,
		.loader_id = UNKNOWN,
		.epoch = UNKNOWN,
		.elements = (int64_t)sum->elements,
		.busy_ns = (int64_t)sum->busy_ns,
		.own_ns = (int64_t)sum->own_ns,
		/* A torn or forged record may have any number. */
		.cpu_ns = sum->cpu_ns > INT64_MAX ? UNKNOWN : (int64_t)sum->cpu_ns,
		.read_ns = (int64_t)sum->read_ns,
		.ready = (int64_t)sum->ready,
	};
	int64_t in_order;
	int r = 0;

	if (event->stream)
		r = writer_find_epoch(writer, event->stream, event->generation, &row.loader_id,
				      &row.epoch, &in_order);
	return r < 0 && r != -ENOENT ? r : writer_stage_sum(writer, &row);
}

int stages_take(struct writer *writer, const struct segment *segment, struct dlprof_event *event)
{
	return event->kind == DLPROF_EVENT_STAGE ? take_stage(writer, segment, event)
						 : take_sum(writer, segment, event);
}

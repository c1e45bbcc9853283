/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/pack.h"

#include <stdbool.h>
#include <string.h>

#define MIDDLE                                                                                     \
	UINT32_C(0x80000000) /* offset of a record's first operation: others may begin earlier */

/* Returns a device's place in the tables. Devices with higher numbers share the last place. */
static uint32_t place_of(int32_t device)
{
	return device >= 0 && device < PACK_DEVICE_MAX ? (uint32_t)device : PACK_DEVICE_MAX;
}

static void push(struct pack *pack, struct dlprof_event *event)
{
	if (event->kind == DLPROF_EVENT_NONE)
		return;
	pack->push(event);
	event->kind = DLPROF_EVENT_NONE;
}

static void begin(struct dlprof_event *event, uint16_t kind, uint32_t place, uint64_t begin_ns)
{
	memset(event, 0, sizeof(*event));
	event->kind = kind;
	event->worker = place == PACK_DEVICE_MAX ? -1 : (int32_t)place;
	event->begin_ns = begin_ns > MIDDLE ? begin_ns - MIDDLE : 0;
}

/* Returns true if the distance from event->begin_ns to `begin_ns` fits into an offset. */
static bool fits(const struct dlprof_event *event, uint64_t begin_ns)
{
	return event->kind != DLPROF_EVENT_NONE && begin_ns - event->begin_ns <= UINT32_MAX;
}

/* Returns the record into which an operation goes. A long operation gets a record of its own. */
static struct dlprof_event *take(struct pack *pack, struct dlprof_event *events, uint16_t kind,
				 int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what,
				 struct dlprof_gpu_op *op)
{
	uint32_t place = place_of(device);
	struct dlprof_event *event = &events[place];
	uint64_t length_ns = end_ns - begin_ns;

	if (length_ns > UINT32_MAX || !fits(event, begin_ns)) {
		push(pack, event);
		begin(event, kind, place, begin_ns);
	}
	*op = (struct dlprof_gpu_op){(uint32_t)(begin_ns - event->begin_ns), (uint32_t)length_ns,
				     what};
	/* This is the length of a single operation. A second operation overwrites the length. */
	event->duration_ns = length_ns;
	return event;
}

void pack_op(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what)
{
	struct dlprof_gpu_op op;
	struct dlprof_event *event =
		take(pack, pack->ops, DLPROF_EVENT_GPU_OPS, device, begin_ns, end_ns, what, &op);

	event->gpu_ops.ops[event->gpu_ops.count++] = op;
	if (event->gpu_ops.count == DLPROF_GPU_OP_COUNT || end_ns - begin_ns > UINT32_MAX)
		push(pack, event);
}

void pack_copy(struct pack *pack, int32_t device, uint64_t begin_ns, uint64_t end_ns, uint32_t what,
	       uint64_t bytes)
{
	struct dlprof_gpu_op op;
	struct dlprof_event *event = take(pack, pack->copies, DLPROF_EVENT_GPU_COPIES, device,
					  begin_ns, end_ns, what, &op);

	event->gpu_copies.copies[event->gpu_copies.count++] =
		(struct dlprof_gpu_copy){op, (uint32_t)bytes, (uint32_t)(bytes >> 32)};
	if (event->gpu_copies.count == DLPROF_GPU_COPY_COUNT || end_ns - begin_ns > UINT32_MAX)
		push(pack, event);
}

void pack_flush(struct pack *pack)
{
	for (uint32_t i = 0; i <= PACK_DEVICE_MAX; i++) {
		push(pack, &pack->ops[i]);
		push(pack, &pack->copies[i]);
	}
}

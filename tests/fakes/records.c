/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - writes activity records as CUPTI lays them out. All versions so far have only added
 * fields at the end, so records differ only in length. FAKE_CUPTI_KERNEL_SIZE: length of a kernel's
 * record, instead of that of FAKE_CUPTI_VERSION.
 */
#include "records.h"

#include <string.h>
#include <unistd.h>

#include "common.h"

/* Offsets of fields in each kind of record; 0: no such field (at 0 is the kind itself). */
static const struct layout {
	uint32_t kind;
	uint8_t begin, end, completed;
	uint8_t device, context, stream, correlation;
	uint8_t size, name, graph, node;
} layouts[] = {
	{KIND_CONCURRENT_KERNEL, 16, 24, 32, 40, 44, 48, 92, 0, 104, 156, 144},
	{KIND_KERNEL, 16, 24, 32, 40, 44, 48, 92, 0, 104, 156, 144},
	{KIND_MEMCPY, 16, 24, 0, 32, 36, 40, 44, 8, 0, 72, 64},
	{KIND_MEMCPY2, 16, 24, 0, 32, 36, 40, 60, 8, 0, 80, 72},
	{KIND_MEMSET, 16, 24, 0, 32, 36, 40, 44, 8, 0, 72, 64},
	{KIND_SYNCHRONIZATION, 8, 16, 0, 0, 28, 32, 24, 0, 0, 0, 0},
	{KIND_GRAPH_TRACE, 8, 16, 0, 24, 32, 36, 4, 0, 0, 28, 0},
	{KIND_DRIVER, 8, 16, 0, 0, 0, 0, 32, 0, 0, 0, 0},
	{KIND_RUNTIME, 8, 16, 0, 0, 0, 0, 32, 0, 0, 0, 0},
	{KIND_OVERHEAD, 24, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	{KIND_STRANGE, 16, 24, 32, 40, 44, 48, 92, 0, 104, 0, 0},
};

/* Length of a record from version `since` of CUPTI on: the last row that fits counts. */
static const struct length {
	uint32_t kind;
	uint8_t bytes;
	long since;
} lengths[] = {
	{KIND_KERNEL, 176, 0},      {KIND_KERNEL, 200, 18},        {KIND_KERNEL, 208, 19},
	{KIND_KERNEL, 216, 130000}, {KIND_KERNEL, 224, 130100},    {KIND_KERNEL, 232, 130300},
	{KIND_KERNEL, 248, 130400}, {KIND_MEMCPY, 88, 0},          {KIND_MEMCPY, 96, 26},
	{KIND_MEMCPY, 112, 130400}, {KIND_MEMCPY2, 96, 0},         {KIND_MEMSET, 88, 0},
	{KIND_MEMSET, 104, 130400}, {KIND_SYNCHRONIZATION, 40, 0}, {KIND_SYNCHRONIZATION, 56, 26},
	{KIND_GRAPH_TRACE, 48, 0},  {KIND_GRAPH_TRACE, 56, 21},    {KIND_DRIVER, 40, 0},
	{KIND_RUNTIME, 40, 0},      {KIND_OVERHEAD, 40, 0},        {KIND_OVERHEAD, 48, 21},
	{KIND_OVERHEAD, 56, 22},    {KIND_STRANGE, 144, 0},
};

static const struct layout *layout_of(uint32_t kind)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].kind == kind)
			return &layouts[i];
	return NULL;
}

uint32_t record_kind(const struct op *op)
{
	static const uint32_t kinds[] = {
		[OP_KERNEL] = KIND_CONCURRENT_KERNEL,
		[OP_MEMCPY] = KIND_MEMCPY,
		[OP_PEER] = KIND_MEMCPY2,
		[OP_MEMSET] = KIND_MEMSET,
		[OP_SYNC] = KIND_SYNCHRONIZATION,
		[OP_GRAPH] = KIND_GRAPH_TRACE,
	};

	return kinds[op->kind];
}

static size_t find_bytes(uint32_t kind)
{
	const long version = knob("CUPTI_VERSION", FAKE_VERSION);
	size_t bytes = 0;

	if (kind == KIND_CONCURRENT_KERNEL)
		kind = KIND_KERNEL;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		if (lengths[i].kind == kind && lengths[i].since <= version)
			bytes = lengths[i].bytes;
	return kind == KIND_KERNEL ? (size_t)knob("CUPTI_KERNEL_SIZE", (long)bytes) : bytes;
}

size_t record_bytes(uint32_t kind)
{
	static size_t found[KIND_COUNT];

	if (kind >= KIND_COUNT)
		return 0;
	if (!found[kind])
		found[kind] = find_bytes(kind);
	return found[kind];
}

static void put32(uint8_t *at, size_t room, uint8_t offset, uint32_t value)
{
	if (offset && offset + sizeof(value) <= room)
		memcpy(at + offset, &value, sizeof(value));
}

static void put64(uint8_t *at, size_t room, uint8_t offset, uint64_t value)
{
	if (offset && offset + sizeof(value) <= room)
		memcpy(at + offset, &value, sizeof(value));
}

void record_write(uint8_t *at, const struct entry *entry, uint64_t begin, uint64_t end)
{
	const struct layout *layout = layout_of(entry->kind);
	const size_t room = record_bytes(entry->kind);
	const struct op *op = &entry->op;

	memcpy(at, &entry->kind, sizeof(entry->kind));
	put64(at, room, layout->begin, begin);
	put64(at, room, layout->end, end);
	put32(at, room, layout->device, op->device);
	put32(at, room, layout->context, op->device + 1);
	put32(at, room, layout->stream, op->stream);
	put32(at, room, layout->correlation, op->correlation);
	put64(at, room, layout->size, op->bytes);
	put64(at, room, layout->name, (uint64_t)(uintptr_t)op->name);
	put32(at, room, layout->graph, op->graph);
	put64(at, room, layout->node, op->node);
	switch (entry->kind) {
	case KIND_MEMCPY:
	case KIND_MEMCPY2:
		at[4] = op->copy_kind;
		at[5] = op->source;
		at[6] = op->target;
		break;
	case KIND_GRAPH_TRACE:
		/* FAKE_CUPTI_GRAPH_HOST=1: the graph's first node runs on the host. */
		if (knob("CUPTI_GRAPH_HOST", 0))
			put32(at, room, layout->device, INT32_MAX);
		put32(at, room, 48, op->device);
		break;
	case KIND_SYNCHRONIZATION:
		put32(at, room, 4, op->sync_type);
		break;
	case KIND_DRIVER:
	case KIND_RUNTIME:
		put32(at, room, 4, entry->call);
		put32(at, room, 24, (uint32_t)getpid());
		put32(at, room, 28, entry->thread);
		break;
	case KIND_OVERHEAD:
		put32(at, room, 4, 1 << 16); /* overhead of flushing a buffer */
		break;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cuda/pack.h"

enum { MOST = 4096 };

static struct pack pack;
static struct dlprof_event events[MOST];
static size_t count;

static void push(const struct dlprof_event *event)
{
	cr_assert_lt(count, (size_t)MOST);
	events[count++] = *event;
}

static void begin(void)
{
	pack.push = push;
}

TestSuite(pack, .init = begin);

#define WHAT(id) DLPROF_GPU_WHAT(DLPROF_GPU_KERNEL, 3, id)

Test(pack, what_is_taken_apart_as_it_was_put_together)
{
	uint32_t what = DLPROF_GPU_WHAT(DLPROF_GPU_LAUNCH, 63, 0x3fffff);

	cr_expect_eq(DLPROF_GPU_WHAT_KIND(what), DLPROF_GPU_LAUNCH);
	cr_expect_eq(DLPROF_GPU_WHAT_STREAM(what), 63);
	cr_expect_eq(DLPROF_GPU_WHAT_ID(what), 0x3fffff);
	cr_expect_leq(DLPROF_GPU_KIND_MAX, 16);
}

Test(pack, seven_to_a_record_and_the_rest_when_flushed)
{
	for (uint32_t i = 0; i < 8; i++)
		pack_op(&pack, 1, 5000000000 + i * 100, 5000000000 + i * 100 + 50, WHAT(i));
	cr_expect_eq(count, 1);
	pack_flush(&pack);
	pack_flush(&pack);
	cr_assert_eq(count, 2);
	cr_expect_eq(events[0].kind, DLPROF_EVENT_GPU_OPS);
	cr_expect_eq(events[0].worker, 1);
	cr_expect_eq(events[0].gpu_ops.count, DLPROF_GPU_OP_COUNT);
	for (uint32_t i = 0; i < DLPROF_GPU_OP_COUNT; i++) {
		cr_expect_eq(events[0].begin_ns + events[0].gpu_ops.ops[i].offset_ns,
			     5000000000 + i * 100);
		cr_expect_eq(events[0].gpu_ops.ops[i].length_ns, 50);
		cr_expect_eq(events[0].gpu_ops.ops[i].what, WHAT(i));
	}
	/* A record of one operation also has its length in duration_ns. */
	cr_expect_eq(events[1].gpu_ops.count, 1);
	cr_expect_eq(events[1].duration_ns, 50);
}

Test(pack, a_long_one_is_alone)
{
	pack_op(&pack, 0, 5000000000, 5000000010, WHAT(1));
	pack_op(&pack, 0, 5000000020, 15000000020, WHAT(2));
	pack_op(&pack, 0, 5000000030, 5000000040, WHAT(3));
	pack_flush(&pack);
	cr_assert_eq(count, 3);
	cr_expect_eq(events[1].gpu_ops.count, 1);
	cr_expect_eq(events[1].duration_ns, 10000000000);
	cr_expect_eq(events[1].begin_ns + events[1].gpu_ops.ops[0].offset_ns, 5000000020);
}

Test(pack, copies_keep_their_bytes)
{
	for (uint64_t i = 0; i < 5; i++)
		pack_copy(&pack, 20, 100 + i, 200 + i, DLPROF_GPU_WHAT(DLPROF_GPU_H2D, 0, 0),
			  (i + 1) << 31);
	pack_flush(&pack);
	cr_assert_eq(count, 2);
	/* A device that the table has no room for is told as unknown. */
	cr_expect_eq(events[0].worker, -1);
	cr_expect_eq(events[0].gpu_copies.count, DLPROF_GPU_COPY_COUNT);
	for (uint64_t i = 0; i < DLPROF_GPU_COPY_COUNT; i++) {
		const struct dlprof_gpu_copy *copy = &events[0].gpu_copies.copies[i];

		cr_expect_eq((uint64_t)copy->bytes_high << 32 | copy->bytes_low, (i + 1) << 31);
		cr_expect_eq(events[0].begin_ns + copy->op.offset_ns, 100 + i);
	}
}

/* Operations in any order, minutes apart, on any device, come back as they were. */
Test(pack, random_ones_come_back)
{
	uint64_t put_ns = 0, got_ns = 0, put_begins = 0, got_begins = 0;
	size_t got = 0;

	srand(2);
	for (int i = 0; i < 2000; i++) {
		uint64_t at =
			60000000000 + (uint64_t)rand() % 6 * 1000000000 + (uint64_t)rand() % 1000;
		uint64_t length = rand() % 50 ? (uint64_t)rand() % 1000000 : 7000000000;

		pack_op(&pack, rand() % 3 - 1, at, at + length, WHAT(i));
		put_ns += length;
		put_begins += at;
	}
	pack_flush(&pack);
	for (size_t i = 0; i < count; i++) {
		const struct dlprof_gpu_ops *ops = &events[i].gpu_ops;

		for (uint32_t k = 0; k < ops->count; k++) {
			got++;
			got_begins += events[i].begin_ns + ops->ops[k].offset_ns;
			got_ns += ops->count == 1 ? events[i].duration_ns : ops->ops[k].length_ns;
		}
	}
	cr_expect_eq(got, 2000);
	cr_expect_eq(got_ns, put_ns);
	cr_expect_eq(got_begins, put_begins);
}

struct one {
	int32_t device;
	uint64_t begin_ns, end_ns, bytes;
	bool back;
};

enum { ONES = 4000 };

static struct one ones[ONES];

static void came_back(const struct dlprof_event *event, const struct dlprof_gpu_op *op, uint32_t of,
		      uint64_t bytes)
{
	uint32_t id = DLPROF_GPU_WHAT_ID(op->what);
	uint64_t begin_ns = event->begin_ns + op->offset_ns;

	cr_assert_lt(id, (uint32_t)ONES);
	cr_expect_not(ones[id].back, "once");
	ones[id].back = true;
	cr_expect_eq(event->worker, ones[id].device < PACK_DEVICE_MAX ? ones[id].device : -1);
	cr_expect_eq(begin_ns, ones[id].begin_ns);
	cr_expect_eq(begin_ns + (of == 1 ? event->duration_ns : op->length_ns), ones[id].end_ns);
	cr_expect_eq(bytes, ones[id].bytes);
}

/* Packs operations and copies, each with its own device, times and bytes. */
Test(pack, each_comes_back_as_it_was)
{
	srand(4);
	for (uint32_t i = 0; i < ONES; i++) {
		uint64_t near = UINT64_C(1) << (rand() % 36);
		struct one *one = &ones[i];

		one->device = rand() % (PACK_DEVICE_MAX + 3) - 1;
		one->begin_ns = 100000000000 + (uint64_t)rand() * 7 % near;
		one->end_ns = one->begin_ns + (uint64_t)rand() * 5 % near;
		one->bytes = rand() % 2 ? 1 + ((uint64_t)rand() << (rand() % 30)) : 0;
		if (one->bytes)
			pack_copy(&pack, one->device, one->begin_ns, one->end_ns, WHAT(i),
				  one->bytes);
		else
			pack_op(&pack, one->device, one->begin_ns, one->end_ns, WHAT(i));
		if (rand() % 100 == 0)
			pack_flush(&pack);
	}
	pack_flush(&pack);
	for (size_t i = 0; i < count; i++) {
		const struct dlprof_gpu_ops *ops = &events[i].gpu_ops;
		const struct dlprof_gpu_copies *copies = &events[i].gpu_copies;

		if (events[i].kind == DLPROF_EVENT_GPU_OPS)
			for (uint32_t k = 0; k < ops->count; k++)
				came_back(&events[i], &ops->ops[k], ops->count, 0);
		else
			for (uint32_t k = 0; k < copies->count; k++)
				came_back(&events[i], &copies->copies[k].op, copies->count,
					  (uint64_t)copies->copies[k].bytes_high << 32 |
						  copies->copies[k].bytes_low);
	}
	for (uint32_t i = 0; i < ONES; i++)
		cr_assert(ones[i].back, "number %u", i);
}

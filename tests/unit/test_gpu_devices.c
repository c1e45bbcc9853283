/* SPDX-License-Identifier: Apache-2.0 */
/* Of several devices only those count that get data from the host, whatever the others do. */
#include <criterion/criterion.h>

#include "analysis/gpu/gpu_devices.h"

#define MS 1000000

static struct gpu_op op(enum dlprof_gpu_kind kind, int16_t device, int64_t begin_ms, int64_t end_ms,
			uint64_t bytes)
{
	return (struct gpu_op){
		.begin_ns = begin_ms * MS,
		.end_ns = end_ms * MS,
		.bytes = bytes,
		.what = DLPROF_GPU_WHAT(kind, 7, kind == DLPROF_GPU_COPY ? DLPROF_GPU_PEER : 0),
		.device = device,
		.kind = (uint8_t)kind,
	};
}

static struct gpu_devices devices;
static struct gpu_device_step steps[GPU_DEVICES_MOST];
static size_t count;

/* Measures a step from 0 to 100 ms that begins with a wait for data of 40 ms. */
static struct gpu_step measure(const struct gpu_op *ops, size_t op_count)
{
	struct gpu_step step;

	for (size_t i = 0; i < op_count; i++)
		gpu_devices_note(&devices, &ops[i]);
	cr_assert_eq(gpu_devices_measure(&devices, ops, op_count, 0, 40 * MS, 100 * MS, &step,
					 steps, &count),
		     0);
	cr_expect_eq(step.busy_ns + step.gap_data_ns + step.gap_h2d_ns + step.gap_sync_ns +
			     step.gap_host_ns + step.gap_other_ns,
		     100 * MS);
	return step;
}

Test(gpu_devices, one_is_as_ever)
{
	const struct gpu_op ops[] = {op(DLPROF_GPU_KERNEL, 3, 0, 10, 0),
				     op(DLPROF_GPU_H2D, 3, 40, 50, 1000),
				     op(DLPROF_GPU_KERNEL, 3, 50, 90, 0)};
	struct gpu_step step = measure(ops, 3);

	cr_expect_eq(count, 0);
	cr_expect_eq(step.busy_ns, 50 * MS);
	cr_expect_eq(step.gap_data_ns, 30 * MS);
}

Test(gpu_devices, the_fed_one_starves_while_the_other_works)
{
	const struct gpu_op ops[] = {
		op(DLPROF_GPU_KERNEL, 1, 0, 40, 0),  op(DLPROF_GPU_H2D, 0, 40, 50, 1000000),
		op(DLPROF_GPU_H2D, 1, 41, 42, 64), /* too small */
		op(DLPROF_GPU_KERNEL, 0, 50, 70, 0), op(DLPROF_GPU_COPY, 1, 70, 72, 500),
		op(DLPROF_GPU_KERNEL, 1, 72, 100, 0)};
	struct gpu_step step = measure(ops, 6);

	cr_assert_eq(count, 2);
	cr_expect(steps[0].fed && !steps[1].fed);
	cr_expect_eq(step.busy_ns, 20 * MS);
	cr_expect_eq(step.gap_data_ns, 40 * MS);
	cr_expect_eq(steps[1].gap_data_ns, 0);
	cr_expect_eq(steps[1].busy_ns, 68 * MS);
	cr_expect_eq(steps[1].peer_bytes, 500);
	cr_expect_eq(step.kernel_count, 3, "counts are of all");
	cr_expect_eq(step.h2d_bytes, 1000064);
}

Test(gpu_devices, a_copy_that_the_host_waited_for_is_of_its_device)
{
	const struct gpu_op ops[] = {
		op(DLPROF_GPU_H2D, 0, 40, 45, 1000),    op(DLPROF_GPU_H2D, 1, 40, 45, 1000),
		op(DLPROF_GPU_KERNEL, 0, 45, 50, 0),    op(DLPROF_GPU_KERNEL, 1, 45, 50, 0),
		op(DLPROF_GPU_API_COPY, -1, 46, 60, 0), op(DLPROF_GPU_D2H, 1, 52, 55, 8)};
	struct gpu_step step = measure(ops, 6);

	cr_expect_eq(steps[1].gap_data_ns, 40 * MS);
	cr_expect_eq(step.gap_sync_ns, 25 * MS, "half of the 50 ms after it, %ld",
		     step.gap_sync_ns);
}

Test(gpu_devices, a_wait_that_only_the_host_saw_is_of_all)
{
	const struct gpu_op ops[] = {
		op(DLPROF_GPU_H2D, 0, 40, 45, 1000), op(DLPROF_GPU_H2D, 1, 40, 45, 1000),
		op(DLPROF_GPU_KERNEL, 0, 45, 50, 0), op(DLPROF_GPU_KERNEL, 1, 45, 50, 0),
		op(DLPROF_GPU_API_SYNC, -1, 46, 50, 0)};

	cr_expect_eq(measure(ops, 5).gap_sync_ns, 50 * MS);
}

Test(gpu_devices, of_several_that_are_fed_the_mean_counts)
{
	const struct gpu_op ops[] = {
		op(DLPROF_GPU_KERNEL, 1, 0, 20, 0),  op(DLPROF_GPU_H2D, 0, 40, 50, 1000),
		op(DLPROF_GPU_H2D, 1, 40, 50, 300),  op(DLPROF_GPU_KERNEL, 0, 50, 70, 0),
		op(DLPROF_GPU_KERNEL, 1, 50, 90, 0), op(DLPROF_GPU_SYNC_CONTEXT, -1, 60, 90, 0)};
	struct gpu_step step = measure(ops, 6);

	cr_assert_eq(count, 2);
	cr_expect(steps[0].fed && steps[1].fed);
	cr_expect_eq(step.busy_ns, 40 * MS, "of 20 and 60");
	cr_expect_eq(step.gap_data_ns, 30 * MS, "of 40 and 20");
	cr_expect_eq(step.gap_sync_ns, 20 * MS, "of 30 and 10: the sync is for both");
	cr_expect_eq(step.sync_context_ns, 30 * MS);
}

Test(gpu_devices, a_step_without_copies_goes_by_those_before)
{
	const struct gpu_op first[] = {op(DLPROF_GPU_KERNEL, 0, 10, 20, 0),
				       op(DLPROF_GPU_H2D, 1, 40, 50, 1000),
				       op(DLPROF_GPU_KERNEL, 1, 50, 60, 0)};
	const struct gpu_op then[] = {op(DLPROF_GPU_KERNEL, 1, 50, 60, 0)};
	struct gpu_step step;

	measure(first, 3);
	step = measure(then, 1);
	cr_assert_eq(count, 2, "a device that did nothing is there still");
	cr_expect(!steps[0].fed && steps[1].fed);
	cr_expect_eq(step.busy_ns, 10 * MS);
	/* The loader feeds the other device from now on. */
	for (int i = 0; i < 20; i++)
		measure((const struct gpu_op[]){op(DLPROF_GPU_H2D, 0, 1, 2, 1000)}, 1);
	cr_expect(steps[0].fed && !steps[1].fed);
}

Test(gpu_devices, nobody_is_fed)
{
	const struct gpu_op ops[] = {op(DLPROF_GPU_KERNEL, 0, 50, 60, 0),
				     op(DLPROF_GPU_KERNEL, 5, 50, 80, 0)};
	struct gpu_step step = measure(ops, 2);

	cr_expect_eq(count, 2);
	cr_expect_eq(step.busy_ns, 20 * MS);
}

Test(gpu_devices, numbers_that_cannot_be)
{
	const struct gpu_op ops[] = {
		op(DLPROF_GPU_KERNEL, -1, 0, 10, 0), op(DLPROF_GPU_KERNEL, 32, 50, 80, UINT64_MAX),
		op(DLPROF_GPU_KERNEL, 31, 50, 80, 0), op(DLPROF_GPU_H2D, INT16_MAX, 50, 80, 1)};

	measure(ops, 4);
	cr_expect_eq(count, 0);
}

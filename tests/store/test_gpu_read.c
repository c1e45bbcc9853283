/* SPDX-License-Identifier: Apache-2.0 */
/* What the GPU did, out of a database: sums, bars, calls, devices, and how it was observed. */
#include <criterion/criterion.h>
#include <math.h>

#include "one_run.h"
#include "store/run/gpu.h"

static const struct batch_filter filter = {.loader_id = 1, .epoch = -1, .first = -1, .last = -1};

/* Three batches of 1000 ns; what the GPU did in the last one is not known. */
static void set_up(void)
{
	one_run_begin();
	run_sql("INSERT INTO t_meta VALUES ('schema', '16');"
		"INSERT INTO t_loader (loader_id, pid, number, workers) VALUES (1, 7, 1, 0);"
		"INSERT INTO t_epoch (loader_id, epoch) VALUES (1, 0);"
		"INSERT INTO t_batch (loader_id, epoch, task, batch, wait_ns, step_ns, compute_ns,"
		" gpu_busy_ns, gpu_idle_wait_ns, h2d_ns, h2d_bytes) VALUES"
		" (1, 0, 0, 0, 100, 1000, 900, 600, 40, 10, 4000),"
		" (1, 0, 1, 1, 100, 1000, 900, 400, 60, 30, 2000),"
		" (1, 0, 2, 2, 100, 1000, 900, NULL, NULL, NULL, NULL)");
}

TestSuite(gpu_read, .init = set_up, .fini = one_run_end);

static const char STEPS_SQL[] =
	"INSERT INTO t_gpu_step (loader_id, epoch, task, kernel_count, graph_count, memset_ns,"
	" d2h_ns, d2h_bytes, h2d_pageable_bytes, nccl_ns, gpu_compute_ns, gpu_loading_ns,"
	" sync_event_ns, sync_stream_ns, sync_context_ns, gap_data_ns, gap_h2d_ns, gap_sync_ns,"
	" gap_host_ns, gap_other_ns) VALUES"
	" (1, 0, 0, 10, 1, 2, 3, 4, 3000, 5, 500, 7, 8, 9, 11, 40, 100, 120, 60, 80),"
	" (1, 0, 1, 30, 2, 4, 6, 8, 1000, 7, 450, 9, 2, 1, 9, 60, 200, 180, 40, 120);";

Test(gpu_read, sums_over_the_batches)
{
	struct gpu_sums sums;

	run_sql(STEPS_SQL);
	run_sql("INSERT INTO t_gpu_part (loader_id, epoch, task, refill_ns, idle_before_ns,"
		" idle_after_ns) VALUES (1, 0, 0, 5, 6, 7), (1, 0, 1, 10, 20, 30)");
	cr_assert_eq(gpu_sums_read(db, &filter, false, &sums), 0);
	cr_expect_eq(sums.batch_count, 2);
	cr_expect_eq(sums.seen_count, 2);
	cr_expect_eq(sums.step_ns, 2000);
	cr_expect_eq(sums.busy_ns, 1000);
	cr_expect_eq(sums.gap_ns[GPU_GAP_DATA], 100);
	cr_expect_eq(sums.gap_ns[GPU_GAP_H2D], 300);
	cr_expect_eq(sums.gap_ns[GPU_GAP_SYNC], 300);
	cr_expect_eq(sums.gap_ns[GPU_GAP_HOST], 100);
	cr_expect_eq(sums.gap_ns[GPU_GAP_OTHER], 200);
	cr_expect_eq(sums.kernel_count, 40);
	cr_expect_eq(sums.graph_count, 3);
	cr_expect_eq(sums.h2d_ns, 40);
	cr_expect_eq(sums.h2d_bytes, 6000);
	cr_expect_eq(sums.h2d_pageable_bytes, 4000);
	cr_expect_eq(sums.compute_ns, 900, "of the second batch no more than it was busy");
	cr_expect_eq(sums.refill_ns, 15);
	cr_expect_eq(sums.part_idle_ns[0], 26);
	cr_expect_eq(sums.part_idle_ns[GPU_PARTS - 1], 37);
	cr_expect(isnan(sums.part_idle_ns[1]), "not observed");
}

Test(gpu_read, without_rows_of_steps_only_busy_times_are_known)
{
	struct gpu_sums sums;

	cr_assert_eq(gpu_sums_read(db, &filter, false, &sums), 0);
	cr_expect(sums.batch_count == 0 && sums.seen_count == 0, "no GPU was seen");
	cr_expect(isnan(sums.busy_ns));
	cr_assert_eq(gpu_sums_read(db, &filter, true, &sums), 0);
	cr_expect_eq(sums.batch_count, 2);
	cr_expect_eq(sums.busy_ns, 1000);
	cr_expect_eq(sums.gap_ns[GPU_GAP_DATA], 100, "from the batches themselves");
	cr_expect(isnan(sums.gap_ns[GPU_GAP_HOST]) && isnan(sums.kernel_count));
	/* Damaged values are not summed up. */
	run_sql("UPDATE t_batch SET step_ns = -5 WHERE task = 1");
	cr_assert_eq(gpu_sums_read(db, &filter, true, &sums), 0);
	cr_expect_eq(sums.batch_count, 1);
	cr_expect_eq(sums.busy_ns, 600);
}

Test(gpu_read, bars_are_means_over_their_batches)
{
	struct gpu_bar bars[3];

	run_sql(STEPS_SQL);
	cr_assert_eq(gpu_bars_read(db, &filter, 2, bars, 3), 0);
	cr_expect_eq(bars[0].count, 2);
	cr_expect_eq(bars[0].step_ns, 1000);
	cr_expect_eq(bars[0].busy_ns, 500);
	cr_expect_eq(bars[0].gap_ns[GPU_GAP_DATA], 50);
	cr_expect_eq(bars[0].gap_ns[GPU_GAP_OTHER], 100);
	for (int i = 1; i < 3; i++)
		cr_expect(bars[i].count == 0 && isnan(bars[i].busy_ns) &&
			  isnan(bars[i].gap_ns[GPU_GAP_HOST]), "%d", i);
	/* No more batches are read than there are bars for. */
	cr_assert_eq(gpu_bars_read(db, &filter, 1, bars, 1), 0);
	cr_expect(bars[0].count == 1 && bars[0].busy_ns == 600);
	cr_assert_eq(gpu_bars_read(db, &filter, 1, bars, 2), 0);
	cr_expect(bars[1].count == 1 && bars[1].busy_ns == 400);
	cr_expect_eq(bars[1].gap_ns[GPU_GAP_H2D], 200);
}

Test(gpu_read, calls_of_the_training_and_of_other_threads)
{
	struct gpu_call_sums sums;

	cr_assert_eq(gpu_calls_read(db, &filter, &sums), 0);
	cr_expect(isnan(sums.sync_ns) && isnan(sums.other_launch_count), "level api was off");
	run_sql("INSERT INTO t_gpu_call VALUES (1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8),"
		" (1, 0, 1, 10, 20, 30, 40, 50, 60, 70, -1)");
	cr_assert_eq(gpu_calls_read(db, &filter, &sums), 0);
	cr_expect_eq(sums.sync_ns, 11);
	cr_expect_eq(sums.copy_ns, 22);
	cr_expect_eq(sums.launch_ns, 33);
	cr_expect_eq(sums.launch_count, 44);
	cr_expect_eq(sums.other_sync_ns, 55);
	cr_expect_eq(sums.other_copy_ns, 66);
	cr_expect_eq(sums.other_launch_ns, 77);
	cr_expect_eq(sums.other_launch_count, 8);
}

Test(gpu_read, how_it_was_observed_and_when_not)
{
	struct gpu_info info;

	cr_assert_eq(gpu_info_read(db, 5, &info), 0);
	cr_expect(info.mode == NULL && info.gap_count == 0 && !info.is_upper_bound);
	cr_expect_eq(info.kernels.count, 0);
	gpu_info_done(&info);
	run_sql("INSERT INTO t_meta VALUES ('cuda_mode', 'cupti'), ('gpu', 'H100'),"
		" ('gpu_busy_is_upper_bound', '1'), ('cuda_records', '77');"
		"INSERT INTO t_gap VALUES (10, 30, 'short', 7), (50, 150, 'long', 7);"
		"INSERT INTO t_kernel VALUES (1, '_Zgemm', 'gemm<float, and so on>'),"
		" (2, '_Zadd', 'add');"
		"INSERT INTO t_total VALUES ('kernel', 'gemm', '', 1, 9, 900, 0, 0, 0, 0),"
		" ('kernel', 'add', '', 2, 5, 100, 0, 0, 0, 0),"
		" ('kernel', 'gone', '', 3, 5, 50, 0, 0, 0, 0)");
	cr_assert_eq(gpu_info_read(db, 5, &info), 0);
	cr_expect_str_eq(info.mode, "cupti");
	cr_expect_str_eq(info.device, "H100");
	cr_expect_eq(info.record_count, 77);
	cr_expect(info.is_upper_bound);
	cr_expect_eq(info.gap_count, 2);
	cr_expect_eq(info.gap_ns, 120);
	cr_expect_str_eq(info.gap_why, "long");
	cr_assert_eq(info.kernels.count, 3);
	cr_expect_str_eq(gpu_kernel_name(&info, 0), "gemm<float, and so on>");
	cr_expect_str_eq(gpu_kernel_name(&info, 1), "add");
	cr_expect_str_eq(gpu_kernel_name(&info, 2), "gone", "only the tally has it");
	gpu_info_done(&info);
	/* A gap that lasts to the run's end is the one to tell of. */
	run_sql("INSERT INTO t_gap VALUES (140, NULL, 'to the end', 7);"
		"UPDATE t_meta SET value = '0' WHERE key = 'gpu_busy_is_upper_bound'");
	cr_assert_eq(gpu_info_read(db, 5, &info), 0);
	cr_expect(info.gap_count == 3 && info.gap_ns == 120 && !info.is_upper_bound);
	cr_expect_str_eq(info.gap_why, "to the end");
	gpu_info_done(&info);
}

Test(gpu_read, means_of_the_first_batches)
{
	struct gpu_means means;

	cr_assert_eq(gpu_means_read(db, 1, 2, &means), 0);
	cr_expect_eq(means.h2d_ns, 20);
	cr_expect_eq(means.gpu_busy_ns, 500);
	cr_assert_eq(gpu_means_read(db, 2, 2, &means), 0);
	cr_expect_eq(means.gpu_busy_ns, UNKNOWN, "another loader");
}

Test(gpu_read, each_of_several_devices)
{
	struct gpu_device_list list;

	run_sql("INSERT INTO t_meta VALUES ('gpu.0', 'H100 at 1'), ('gpu.2', 'H100 at 3'),"
		" ('gpu.10', 'H100 at 11')");
	cr_assert_eq(gpu_device_list_read(db, &filter, &list), 0);
	cr_assert_eq(list.count, 3, "one device at work: all that have a name");
	cr_expect_eq(list.items[2].number, 10);
	cr_expect_str_eq(list.items[2].name, "H100 at 11");
	cr_expect(isnan(list.items[0].busy_ns));
	run_sql("INSERT INTO t_gpu_device VALUES"
		" (1, 0, 0, 0, 1, 500, 30, 4, 0, 4000, 0),"
		" (1, 0, 0, 2, 0, 300, NULL, 4, 0, 0, 50),"
		" (1, 0, 1, 0, 1, 350, 40, 4, 0, 2000, 0),"
		" (1, 0, 1, 2, 1, 250, NULL, 4, 0, 9, 70)");
	cr_assert_eq(gpu_device_list_read(db, &filter, &list), 0);
	cr_assert_eq(list.count, 2, "without those that were not used");
	cr_expect_eq(list.items[0].number, 0);
	cr_expect_eq(list.items[0].batch_count, 2);
	cr_expect_eq(list.items[0].fed_count, 2);
	cr_expect_eq(list.items[0].step_ns, 2000);
	cr_expect_eq(list.items[0].busy_ns, 850);
	cr_expect_eq(list.items[0].idle_wait_ns, 70);
	cr_expect_eq(list.items[0].h2d_bytes, 6000);
	cr_expect_eq(list.items[0].peer_bytes, 0);
	cr_expect_eq(list.items[1].number, 2);
	cr_expect_eq(list.items[1].fed_count, 1);
	cr_expect_eq(list.items[1].busy_ns, 550);
	cr_expect(isnan(list.items[1].idle_wait_ns));
	cr_expect_eq(list.items[1].peer_bytes, 120);
	cr_expect_str_eq(list.items[1].name, "H100 at 3");
}

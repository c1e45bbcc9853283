/* SPDX-License-Identifier: Apache-2.0 */
/* A run, its loaders, batches, epochs and stages, out of a database. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "one_run.h"
#include "store/run/batch.h"
#include "store/run/query.h"

static const struct batch_filter filter = {.loader_id = 1, .epoch = -1, .first = -1, .last = -1};

static void set_up(void)
{
	one_run_begin();
	run_sql("INSERT INTO t_meta VALUES ('schema', '16'), ('pid', '7')");
}

TestSuite(query, .init = set_up, .fini = one_run_end);

static struct batch_series read_series(void)
{
	struct batch_series series;

	series_init(&series);
	cr_assert_eq(query_series(db, &filter, &series), 0);
	return series;
}

/* Of 16 cores the run may use 8 by its mask, or fewer by a limit; others use 10 of them. */
static struct batch_series read_cores(const char *limits)
{
	char sql[400];

	snprintf(sql, sizeof(sql),
		 "DELETE FROM t_meta; INSERT INTO t_meta VALUES ('schema', '16'), ('pid', '7'),"
		 " ('main_cpu_ns', '30'), ('main_cpu_of_ns', '40'), ('other_cpu_ns', '50'),"
		 " ('other_cpu_of_ns', '10'), ('main_ran_ns', '60'), ('main_waited_ns', '20'),"
		 " ('workers_ran_ns', '10'), ('workers_waited_ns', '30')%s", limits);
	run_sql(sql);
	return read_series();
}

Test(query, cores_of_the_run_and_of_others)
{
	struct batch_series s = read_cores(", ('cpus', '16')");

	cr_expect_eq(s.cores, 16);
	cr_expect_eq(s.main_cores, 0.75);
	cr_expect_eq(s.other_cores, 5);
	cr_expect_eq(s.main_share, 0.75);
	cr_expect_eq(s.worker_share, 0.25);
	/* Programs that nobody knows wanted 5 cores / .25, as the run's worst threads got .25. */
	cr_assert_eq(s.share.count, 1);
	cr_expect(s.share.neighbours[0].is_group && s.share.neighbours[0].ran == 5);
	cr_expect_eq(s.share.neighbours[0].wanted, 20);
	cr_expect_eq(s.share.all, 16);
	series_done(&s);
	/* A limit of 2.5 cores on a mask of 4: others may use 1.5 of them without harm. */
	s = read_cores(", ('cpus', '4'), ('affinity', '4'), ('cpu_limit_milli', '2500')");
	cr_expect_eq(s.cores, 2.5);
	cr_expect_eq(s.other_cores, 3.5);
	cr_expect(s.share.cores == 2.5 && s.share.all == 4);
	series_done(&s);
	s = read_cores(", ('cpus', '0'), ('neighbours', 'g 1 2 3;p 0.5 1 4;p 0 1 1;junk')");
	cr_expect(isnan(s.cores));
	cr_assert_eq(s.share.count, 3);
	cr_expect(s.share.neighbours[0].is_group && !s.share.neighbours[1].is_group);
	cr_expect(s.share.neighbours[1].weight == 0.5 && s.share.neighbours[1].ran == 1 &&
		  s.share.neighbours[1].wanted == 4);
	cr_expect_eq(s.share.neighbours[2].ran, 2, "what is left of five");
	series_done(&s);
	s = read_cores(", ('cpus', '8'), ('neighbours', 'g 1 4.99 5')");
	cr_expect_eq(s.share.count, 1, "a hundredth of a core is nobody");
	series_done(&s);
}

static void add_loader(void)
{
	run_sql("INSERT INTO t_loader (loader_id, pid, number, kind, workers, prefetch_factor,"
		" in_order, persistent, batch_size, place) VALUES"
		" (1, 7, 1, 'torch.utils.data.DataLoader', 2, 3, 1, 1, 32, 'train.py:4 in main'),"
		" (2, 7, 2, 'other', 0, NULL, NULL, NULL, NULL, NULL);"
		"INSERT INTO t_epoch (loader_id, epoch, begin_ns, setup_ns, tid, nested,"
		" stop_begin_ns, stop_ns, sample_ns) VALUES (1, 0, 1000, 50, 9, 0, 1700, 20, 5),"
		" (1, 1, 2000, NULL, 10, 1, NULL, NULL, NULL);"
		"INSERT INTO t_process (pid, start_ticks, role, worker_id, start_ns) VALUES"
		" (7, 1, 'main', NULL, 0)");
}

Test(query, loaders_the_longest_first)
{
	struct loader_info *loaders;
	size_t count;

	add_loader();
	run_sql("INSERT INTO t_batch (loader_id, epoch, task, batch, wait_ns, compute_ns) VALUES"
		" (1, 0, 0, 0, 10, 20), (1, 0, 1, NULL, 5, 5), (1, 1, 0, 0, 1, NULL),"
		" (2, 0, 0, 0, 40, -3), (3, 0, 0, 0, 2, 2)");
	cr_assert_eq(query_loaders(db, &loaders, &count), 0);
	cr_assert_eq(count, 3);
	cr_expect(loaders[0].loader_id == 2 && loaders[0].time_ns == 40);
	cr_expect(loaders[1].loader_id == 1 && loaders[1].time_ns == 31);
	cr_expect(loaders[2].loader_id == 3 && loaders[2].time_ns == 4, "its own row was lost");
	cr_expect(loaders[1].batch_count == 2 && loaders[1].epoch_count == 2);
	cr_expect_str_eq(loaders[1].kind, "torch.utils.data.DataLoader");
	cr_expect_str_eq(loaders[1].place, "train.py:4 in main");
	cr_expect(loaders[1].workers == 2 && loaders[1].prefetch_factor == 3);
	cr_expect(loaders[1].in_order == 1 && loaders[1].persistent == 1);
	cr_expect(loaders[1].batch_size == 32 && loaders[1].lacks_order == UNKNOWN);
	cr_expect(loaders[1].pid == 7 && loaders[1].tid == 9, "the thread of the first epoch");
	cr_expect(loaders[1].nested && !loaders[0].nested);
	free(loaders);
	cr_assert_eq(query_rank_loaders(db, &loaders, &count), 0);
	cr_expect_eq(count, 3);
	free(loaders);
	run_sql("DELETE FROM t_batch WHERE loader_id > 1");
	cr_assert_eq(query_rank_loaders(db, &loaders, &count), 0);
	cr_assert_eq(count, 1);
	cr_expect_eq(loaders[0].loader_id, 1);
	free(loaders);
	run_sql("DELETE FROM t_batch");
	cr_assert_eq(query_rank_loaders(db, &loaders, &count), 0);
	cr_expect_eq(count, 0);
}

Test(query, settings_of_a_loader)
{
	struct batch_series s;

	add_loader();
	s = read_series();
	cr_expect(s.workers == 2 && s.prefetch_factor == 3 && s.in_order == 1);
	cr_expect(s.persistent == 1 && s.iterable == 0 && s.is_foreign == 0 && s.is_pooled == 0);
	cr_assert_eq(s.epoch_count, 2);
	cr_expect(s.epochs[0].begin_ns == 1000 && s.epochs[0].setup_ns == 50);
	cr_expect(s.epochs[0].stop_begin_ns == 1700 && s.epochs[0].stop_ns == 20);
	cr_expect_eq(s.epochs[0].sample_ns, 5);
	cr_expect(s.epochs[1].stop_begin_ns == UNKNOWN && isnan(s.epochs[1].setup_ns));
	series_done(&s);
	/* Worker 0 was started twice: workers did not stay. */
	run_sql("INSERT INTO t_process (pid, start_ticks, role, worker_id, loader_id) VALUES"
		" (8, 2, 'worker', 0, 1), (9, 3, 'worker', 0, 1);"
		"UPDATE t_loader SET kind = 'torch.utils.data.DataLoader (iterable)'");
	s = read_series();
	cr_expect(s.persistent == 0 && s.iterable == 1);
	series_done(&s);
	run_sql("UPDATE t_loader SET kind = 'mxnet.gluon.data.DataLoader'");
	s = read_series();
	cr_expect(s.is_foreign == 1 && s.is_pooled == 1);
	series_done(&s);
}

Test(query, batches_and_the_time_between_them)
{
	struct batch_series s;

	add_loader();
	run_sql("INSERT INTO t_batch (loader_id, epoch, task, batch, begin_ns, wait_ns, step_ns,"
		" compute_ns, load_begin_ns, load_ns, cpu_ns, receive_ns, free_ns, fetch_count,"
		" fetch_ns, fetch_cpu_ns, worker_id, head_ready, qdepth) VALUES"
		/* ready at 1110, in hand at 1130 */
		" (1, 0, 0, 0, 1100, 30, 100, 70, 1060, 50, 20, 3, NULL, 2, 4, 1, 0, 0, 0),"
		/* was ready before it was asked for; its memory is freed in 5 */
		" (1, 0, 1, 1, 1200, 10, 100, 60, 1100, 90, 30, 4, 5, 2, 4, 1, 1, 1, 3),"
		/* not ready when it was handed out: clocks differ */
		" (1, 0, 2, 2, 1300, 10, 150, 80, 1305, 90, NULL, 5, NULL, 2, 4, 1, 0, 0, 0),"
		/* the last one has no step */
		" (1, 0, 3, 3, 1500, 10, NULL, NULL, NULL, 90, NULL, 6, NULL, 3, 6, 2, 1, 0, 0)");
	s = read_series();
	cr_assert_eq(s.count, 4);
	cr_expect_eq(s.wait_ns[0], 30);
	cr_expect_eq(s.handover_ns[0], 20);
	cr_expect_eq(s.wait_ns[1], 15, "with the time to free memory");
	cr_expect_eq(s.handover_ns[1], 15);
	cr_expect_eq(s.handover_ns[2], 0);
	cr_expect(isnan(s.handover_ns[3]) && isnan(s.compute_ns[3]));
	cr_expect(s.load_cpu_ns == 50 && s.load_cpu_count == 2);
	/* Messages of the workers' first batches include other waiting. */
	cr_expect(s.receive_ns == 11 && s.receive_count == 2);
	cr_expect(s.fetches.batches == 2 && s.fetches.count == 5);
	cr_expect(s.fetches.ns == 10 && s.fetches.cpu_ns == 3);
	cr_expect_eq(s.first_ns, 1130);
	cr_expect_eq(s.last_ns, 1450);
	cr_expect_eq(s.tail_begin_ns, 1500);
	/* Of the steps of 70, 90 and 140, 70 + 5, 60 and 80 are computing or freeing. */
	cr_expect_eq(s.elsewhere_ns, 25 + 60, "%g", s.elsewhere_ns);
	cr_expect_eq(s.epochs[0].boot_ns, 1100 - 1000 - 50, "until both workers had begun");
	cr_expect(s.state[1] & SERIES_READY && s.state[1] & SERIES_QUEUE);
	cr_expect_not(s.state[0] & SERIES_READY || s.state[0] & SERIES_QUEUE);
	series_done(&s);
}

Test(query, a_hand_over_is_from_the_later_of_both)
{
	struct batch_row row = BATCH_ROW_UNKNOWN;

	row.wait_ns = 100;
	row.load_ns = 50;
	cr_expect_eq(query_handover_ns(&row, 1000, 900), 100, "it was ready");
	cr_expect_eq(query_handover_ns(&row, 1000, 950), 100);
	cr_expect_eq(query_handover_ns(&row, 1000, 951), 99);
	cr_expect_eq(query_handover_ns(&row, 1000, 1049), 1);
	cr_expect_eq(query_handover_ns(&row, 1000, 1050), 0);
	cr_expect_eq(query_handover_ns(&row, 1000, 2000), 0);
	cr_expect_eq(query_handover_ns(&row, -1, 900), UNKNOWN);
	cr_expect_eq(query_handover_ns(&row, 1000, -1), UNKNOWN);
	cr_expect_eq(query_handover_ns(&row, INT64_MAX, 900), UNKNOWN);
	row.load_ns = UNKNOWN;
	cr_expect_eq(query_handover_ns(&row, 1000, 900), UNKNOWN);
}

Test(query, how_a_run_ended)
{
	struct run_info run;

	run_sql("INSERT INTO t_process (pid, start_ticks, role, worker_id, start_ns, end_ns, exit,"
		" exit_status) VALUES (7, 1, 'main', NULL, 5, 60, 'exec', 0),"
		" (7, 2, 'main', NULL, 70, 900, 'gone', 9), (8, 1, 'worker', 3, 6, 50, 'gone', 9),"
		" (9, 1, 'worker', 1, 6, 50, 'gone', 9), (10, 1, 'worker', 0, 6, 50, 'gone', 15);"
		"INSERT INTO t_loss VALUES (7, 'events', 4), (8, 'events', 5), (8, 'stacks', 9);"
		"INSERT INTO t_meta VALUES ('rank', '3'), ('synchronous', '7');"
		"INSERT INTO t_note (level, text) VALUES ('doubt', 'd'), ('warning', 'w'),"
		" ('doubt', 'e'), ('set', 's'), ('info', 'i')");
	cr_assert_eq(query_run(db, &run), 0);
	cr_expect(run.is_gone && run.exit_status == 9 && run.main_end_ns == 900);
	cr_expect_eq(run.killed_count, 2, "a loader ends its workers by SIGTERM");
	cr_expect(run.killed_worker == 1 && run.killed_status == 9);
	cr_expect_eq(run.lost_count, 9);
	cr_expect_eq(run.process_count, 5);
	cr_expect(run.rank == 3 && run.doubt_count == 2);
	cr_expect(run.host == NULL && run.start_ns == UNKNOWN);
	run_info_done(&run);
}

Test(query, notes_doubts_first)
{
	char **notes;
	size_t count;

	run_sql("INSERT INTO t_note (level, text) VALUES ('warning', 'w'), ('doubt', 'd'),"
		" ('set', 's'), ('info', 'i'), ('doubt', 'e')");
	cr_assert_eq(query_notes(db, &notes, &count), 0);
	cr_assert_eq(count, 3);
	cr_expect_str_eq(notes[0], "d");
	cr_expect_str_eq(notes[1], "e");
	cr_expect_str_eq(notes[2], "w");
	cr_assert_eq(query_set(db, &notes, &count), 0);
	cr_assert_eq(count, 1);
	cr_expect_str_eq(notes[0], "s");
}

Test(query, when_epochs_began_to_deliver)
{
	struct rank_epoch *epochs;
	size_t count;

	run_sql("INSERT INTO t_epoch (loader_id, epoch, begin_ns, setup_ns) VALUES (1, 0, 100, 7),"
		" (1, 1, 200, NULL), (1, 2, NULL, 5), (1, 3, 400, -9),"
		" (1, 4, 9223372036854775000, 1), (2, 0, 1, 1)");
	cr_assert_eq(query_rank_epochs(db, 1, 1000, &epochs, &count), 0);
	cr_assert_eq(count, 3);
	cr_expect(epochs[0].epoch == 0 && epochs[0].begin_ns == 1107);
	cr_expect(epochs[1].epoch == 1 && epochs[1].begin_ns == 1200);
	cr_expect(epochs[2].epoch == 3 && epochs[2].begin_ns == 1400);
	free(epochs);
}

Test(query, stages_of_a_pipeline)
{
	struct stages stages;

	run_sql("INSERT INTO t_loader (loader_id, pid, number, kind) VALUES (1, 7, 1, 'tf.data');"
		"INSERT INTO t_stage (stage_id, pid, number, parent, kernel, root, autotuned,"
		" parallel, capacity, threads, name, kind) VALUES"
		" (1, 7, 10, NULL, 0, 1, 0, NULL, NULL, 4, 'Root', 'other'),"
		" (2, 7, 11, 10, 0, 0, 1, NULL, 8, NULL, 'Prefetch', 'prefetch'),"
		" (3, 7, 12, 11, 1, 0, 0, 2, NULL, NULL, 'DecodeJpeg', 'decode'),"
		" (4, 8, 11, 10, 0, 0, 0, NULL, NULL, NULL, 'another process', 'other');"
		"INSERT INTO t_stage_sum VALUES"
		" (1, 100, 50, 1, 0, 10, 500, 5, 1, 0, 0), (1, 200, 60, 1, 1, 20, 600, 6, 1, 0, 0),"
		" (2, 100, 50, 1, 0, 10, 400, 90, 45, 2, 40),"
		" (2, 200, 60, 1, 1, 20, 500, 10, NULL, 4, 20),"
		" (3, 200, 60, 1, 1, 20, 300, 300, 200, 7, 0)");
	cr_assert_eq(stages_read(db, 1, false, &stages), 0);
	cr_assert_eq(stages.count, 3);
	cr_expect_eq(stages.span_ns, 110);
	cr_expect_str_eq(stages.list[0].name, "Root");
	cr_expect(stages.list[0].is_root && !stages.list[1].is_root && stages.list[2].is_kernel);
	cr_expect_eq(stages.list[0].parent, STAGE_NOWHERE);
	cr_expect(stages.list[1].parent == 0 && stages.list[2].parent == 1);
	cr_expect(stages.list[0].threads == 4 && stages.list[0].elements == 30);
	cr_expect(stages.list[1].kind == STAGE_PREFETCH && stages.list[1].capacity == 8);
	cr_expect(stages.list[1].is_autotuned && stages.list[1].parallel == -1);
	cr_expect(stages.list[1].busy_ns == 900 && stages.list[1].own_ns == 100);
	cr_expect_eq(stages.list[1].cpu_ns, 50, "half, as in the window where it is known");
	cr_expect(stages.list[1].read_ns == 6 && stages.list[1].queue == 2);
	cr_expect(isnan(stages.list[0].queue), "it is no queue");
	cr_expect_eq(stages.list[2].parallel, 2);
	stages_done(&stages);
	cr_assert_eq(stages_read(db, 1, true, &stages), 0);
	cr_expect(stages.is_later && stages.span_ns == 60);
	cr_expect_eq(stages.list[1].busy_ns, 500, "without the first epoch");
	stages_done(&stages);
	cr_assert_eq(stages_read(db, 2, false, &stages), 0);
	cr_expect_eq(stages.count, 0);
	stages_done(&stages);
}

static int count_rows(const struct batch_record *record, void *context)
{
	int64_t *seen = context;

	seen[0]++;
	seen[1] = seen[1] * 10 + record->batch;
	return seen[0] == seen[2] ? 77 : 0;
}

Test(query, batches_one_by_one)
{
	const struct batch_filter some = {.loader_id = 1, .epoch = 0, .first = 1, .last = 2};
	double loads[2] = {0}, bytes[2] = {0};
	int64_t seen[3] = {0};
	struct flight_load flights[8];
	struct load_totals totals;
	struct load_times times;
	struct step_sums sums;
	size_t count;

	add_loader();
	run_sql("INSERT INTO t_batch (loader_id, epoch, task, batch, load_begin_ns, load_ns,"
		" cpu_ns, samples, worker_id, read_bytes, read_count, read_ns, blocked_ns,"
		" compute_ns, before_ns, backward_ns) VALUES"
		" (1, 0, 0, 0, 10, 100, 40, 4, 0, 1000, 3, 20, 5, 70, 30, 20),"
		" (1, 0, 1, 1, 11, 100, NULL, 4, 1, 500, 4, 30, 6, 70, 30, 25),"
		" (1, 0, 2, 2, 12, 0, 40, 4, 7, 500, 4, 30, 6, 70, 30, NULL),"
		" (1, 0, 3, 3, 13, 100, 50, 2, 0, 700, 5, 10, 7, 70, 30, 5),"
		" (1, 0, 4, NULL, 13, 100, 50, 2, 0, 700, 5, 10, 7, 70, 30, 5);"
		"UPDATE t_epoch SET save_ns = 11 + epoch");
	cr_assert_eq(batch_each(db, &filter, count_rows, seen), 0);
	cr_expect(seen[0] == 4 && seen[1] == 123, "%ld", (long)seen[1]);
	memset(seen, 0, sizeof(seen));
	cr_assert_eq(batch_each(db, &some, count_rows, seen), 0);
	cr_expect(seen[0] == 2 && seen[1] == 12, "%ld", (long)seen[1]);
	memset(seen, 0, sizeof(seen));
	seen[2] = 2;
	cr_assert_eq(batch_each(db, &filter, count_rows, seen), 77, "it ends when it is told to");
	memset(seen, 0, sizeof(seen));
	cr_assert_eq(batch_newest(db, 1, 3, count_rows, seen), 0);
	cr_expect_eq(seen[1], 321);
	cr_assert_eq(batch_reads(db, &filter, 2, loads, bytes), 0);
	cr_expect(loads[0] == 2 && loads[1] == 1 && bytes[0] == 1700 && bytes[1] == 500);
	cr_assert_eq(batch_flights(db, &filter, flights, &count), 0);
	cr_assert_eq(count, 2, "of which begin, length and CPU time are known");
	cr_expect(flights[1].begin_ns == 13 && flights[1].load_ns == 100);
	cr_expect(flights[1].cpu_ns == 50 && flights[1].samples == 2 && flights[1].epoch == 0);
	cr_assert_eq(batch_totals(db, &filter, &totals), 0);
	times = batch_totals_times(&totals);
	cr_expect(times.load_ns == 300 && times.cpu_ns == 130 && times.read_ns == 90);
	cr_expect(times.blocked_ns == 24 && times.read_count == 16 && times.read_bytes == 2700);
	cr_expect(times.samples == 14 && isnan(times.decode_ns) && isnan(times.storage_bytes));
	cr_assert_eq(batch_parts(db, &filter, &sums), 0);
	cr_expect(sums.ns[STEP_BEFORE] == 120 && sums.ns[STEP_BACKWARD] == 50);
	cr_expect(isnan(sums.ns[STEP_OPTIMIZER]) && sums.compute_ns == 280);
	cr_expect_eq(sums.save_ns, 23);
	cr_assert_eq(batch_parts(db, &some, &sums), 0);
	cr_expect(sums.ns[STEP_BEFORE] == 60 && sums.save_ns == 0, "saved between epochs");
}

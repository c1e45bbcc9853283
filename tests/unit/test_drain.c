/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the drain on segments as processes leave them: it joins batches, and trusts no segment. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/units.h"
#include "drain/drain.h"
#include "fake_run.h"

#define SEGMENT_PROBE_BYTES (8192 + 8 * 1024)

static struct fake_run run;
static struct dlprof_segment *consumer, *worker;

static void set_up(void)
{
	fake_run_make(&run);
	consumer = fake_run_segment(&run, fake_run_dead_pid(), DLPROF_SEGMENT_ROOT);
	worker = fake_run_segment(&run, fake_run_dead_pid(), 0);
}

static struct dlprof_event enters(void)
{
	return (struct dlprof_event){.kind = DLPROF_EVENT_WORKER, .stream = FAKE_STREAM};
}

static void tear_down(void)
{
	fake_run_remove(&run);
}

TestSuite(drain, .init = set_up, .fini = tear_down);

#define PUSH(segment, make)                                                                        \
	do {                                                                                       \
		struct dlprof_event pushed = make;                                                 \
		fake_run_push(segment, &pushed);                                                   \
	} while (0)

static void recover(void)
{
	struct recovered recovered;

	cr_assert_eq(drain_recover(run.database, &recovered), 0);
	cr_assert_not(recovered.live);
}

/* Pushes an epoch: loads of 100 ms, and a consumer that computes 10 ms a batch. */
static void push_epoch(uint32_t loader, uint32_t epoch, uint32_t generation, uint64_t at)
{
	PUSH(worker, enters());
	PUSH(consumer, fake_epoch(loader, epoch, 1, generation, at));
	PUSH(worker, fake_load(0, generation, 0, at, 100));
	PUSH(worker, fake_load(0, generation, 1, at + 100, 100));
	PUSH(worker, fake_load(0, generation, 2, at + 200, 50));
	PUSH(consumer, fake_batch(generation, 0, at + 5, 97));
	PUSH(consumer, fake_batch(generation, 1, at + 112, 90));
	PUSH(consumer, fake_batch(generation, 2, at + 260, 1));
	PUSH(consumer, fake_stop(generation, at + 271));
}

Test(drain, joins_what_worker_and_consumer_say)
{
	push_epoch(1, 0, 0, 1000);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT wait_ns FROM batch WHERE batch = 1"), 90 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT step_ns FROM batch WHERE batch = 1"), 148 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT compute_ns FROM batch WHERE batch = 1"), 58 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT compute_ns FROM batch WHERE batch = 2"), 10 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT head_ready FROM batch WHERE batch = 1"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT qdepth FROM batch WHERE batch = 1"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT head_ready FROM batch WHERE batch = 2"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT ready_ns FROM batch WHERE batch = 2"), 10 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT qdepth FROM batch WHERE batch = 2"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT transfer_ns FROM load WHERE batch = 0"), 2 * MS);
	/* read 10 + open 2 + collate 5 + other = load */
	cr_expect_eq(fake_run_ask(&run, "SELECT other_ns FROM load WHERE batch = 0"), 83 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT decode_ns FROM load WHERE batch = 0"), -1);
	cr_expect_eq(fake_run_ask(&run, "SELECT worker_id FROM process WHERE role = 'worker'"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT loader_id FROM process WHERE role = 'worker'"), 1);
}

Test(drain, transfer_leaves_out_the_time_nobody_looked_for_the_message)
{
	struct dlprof_event ready = fake_batch(0, 0, 500, 3);

	PUSH(consumer, fake_epoch(1, 0, 1, 0, 0));
	PUSH(worker, fake_load(0, 0, 0, 0, 100));
	ready.batch.ask_ns = 501 * MS;
	fake_run_push(consumer, &ready);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT transfer_ns FROM load"), 2 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT ready_ns FROM batch"), 400 * MS);
}

Test(drain, head_of_line_is_the_wait_behind_a_finished_batch)
{
	/* Loads 2, 1 and 0 are finished at 80, 120 and 200 ms; batch 0 is asked for at 50 ms. */
	PUSH(consumer, fake_epoch(1, 0, 3, 0, 0));
	PUSH(worker, fake_load(2, 0, 2, 0, 80));
	PUSH(worker, fake_load(1, 0, 1, 0, 120));
	PUSH(worker, fake_load(0, 0, 0, 0, 200));
	PUSH(consumer, fake_batch(0, 0, 50, 155));
	PUSH(consumer, fake_batch(0, 1, 210, 1));
	PUSH(consumer, fake_batch(0, 2, 220, 1));
	PUSH(consumer, fake_stop(0, 230));
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT hol_ns FROM batch WHERE batch = 0"), 120 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT qdepth FROM batch WHERE batch = 0"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT qdepth FROM batch WHERE batch = 1"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT hol_ns FROM batch WHERE batch = 1"), 0);
}

/* Of a loader whose order is not known, no wait behind a finished batch is known, not even none. */
Test(drain, no_head_of_line_where_the_order_is_not_known)
{
	struct dlprof_event epoch = fake_epoch(1, 0, 2, 0, 0);

	epoch.epoch.flags = DLPROF_EPOCH_OPAQUE;
	fake_run_push(consumer, &epoch);
	PUSH(worker, fake_load(1, 0, 1, 0, 80));
	PUSH(worker, fake_load(0, 0, 0, 0, 200));
	PUSH(consumer, fake_batch(0, 0, 50, 155));
	PUSH(consumer, fake_batch(0, 1, 210, 1));
	PUSH(consumer, fake_stop(0, 230));
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT head_ready FROM batch WHERE batch = 0"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT hol_ns FROM batch WHERE batch = 0"), -1);
	cr_expect_eq(fake_run_ask(&run, "SELECT hol_ns FROM batch WHERE batch = 1"), -1);
}

/* Pushes all records of a loader without workers; `stream` is that of the process's life. */
static void push_life(struct dlprof_segment *segment, uint64_t stream, uint64_t at)
{
	struct dlprof_event events[] = {
		fake_epoch(1, 0, 0, 0, at),
		fake_batch(0, 0, at + 5, 10),
		fake_batch(0, 1, at + 30, 10),
		fake_stop(0, at + 60),
	};

	segment->header.created_ns = at * MS;
	for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
		events[i].stream = DLPROF_STREAM_LOCAL | stream;
		fake_run_push(segment, &events[i]);
	}
}

/* After execve() a program has the pid, loader numbers, epochs and batches of the one before. */
Test(drain, programs_that_a_process_was_are_told_apart)
{
	struct dlprof_segment *later;
	char first[160], other[160];

	snprintf(first, sizeof(first), "%s/%d-1-0.seg", run.folder, consumer->header.pid);
	snprintf(other, sizeof(other), "%s/%d-2-0.seg", run.folder, consumer->header.pid);
	cr_assert_eq(rename(first, other), 0);
	later = fake_run_segment(&run, consumer->header.pid,
				 DLPROF_SEGMENT_ROOT | DLPROF_SEGMENT_LATER);
	strcpy(later->header.command, "python again.py");
	push_life(consumer, 1, 1000);
	push_life(later, 2, 5000);
	later->header.ended_ns = 6000 * MS;
	consumer->slots[0].lost_count = 3;
	later->slots[0].lost_count = 4;
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 4);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(DISTINCT loader_id) FROM batch"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch WHERE step_ns = 25000000"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM process WHERE role = 'main'"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT end_ns FROM process WHERE exit = 'exec'"),
		     5000 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT start_ns FROM process WHERE exit = 'clean'"),
		     5000 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT sum(count) FROM loss WHERE what = 'events'"), 7);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM meta WHERE key = 'command' AND "
					"value = 'python train.py'"),
		     1);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM meta WHERE key = 'start_ns' AND "
					"value = '1000000000'"),
		     1);
}

Test(drain, persistent_workers_restart_their_numbers)
{
	push_epoch(1, 0, 0, 1000);
	push_epoch(1, 1, 1, 2000);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM loader"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch WHERE epoch = 0"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch WHERE epoch = 1"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT begin_ns FROM batch WHERE epoch = 1 AND batch = 0"),
		     2005 * MS);
}

Test(drain, other_loaders_waits_are_not_compute)
{
	struct dlprof_event second = fake_batch(0, 1, 200, 10);

	PUSH(consumer, fake_epoch(1, 0, 1, 0, 0));
	PUSH(consumer, fake_batch(0, 0, 100, 20));
	second.batch.waited_ns = 50 * MS;	/* of which 20 ms for this loader */
	fake_run_push(consumer, &second);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT compute_ns FROM batch WHERE batch = 0"), 50 * MS);
	cr_expect_eq(fake_run_ask(&run, "SELECT step_ns FROM batch WHERE batch = 1"), -1);
}

Test(drain, keeps_loads_that_were_never_delivered)
{
	PUSH(consumer, fake_epoch(1, 0, 1, 0, 0));
	PUSH(worker, fake_load(0, 0, 0, 0, 10));
	PUSH(worker, fake_load(0, 0, 1, 10, 10));
	PUSH(consumer, fake_batch(0, 0, 5, 6));
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM load"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM load WHERE batch IS NULL"), 1);
}

Test(drain, stores_batches_whose_epoch_record_is_missing)
{
	PUSH(worker, fake_load(0, 0, 0, 0, 10));
	PUSH(consumer, fake_batch(0, 0, 5, 6));
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT workers FROM loader"), -1);
}

Test(drain, tidies_up_and_can_be_asked_again)
{
	char link[128];

	push_epoch(1, 0, 0, 0);
	recover();
	snprintf(link, sizeof(link), "%s-segments", run.database);
	cr_expect_neq(access(run.folder, F_OK), 0);
	cr_expect_neq(access(link, F_OK), 0);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 3);
	cr_expect_gt(fake_run_ask(&run, "SELECT value FROM meta WHERE key = 'end_ns'"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT theta_ns FROM t_loader"), 34 * MS / 10);
}

Test(drain, writes_the_same_rows_when_it_reads_them_again)
{
	struct dlprof_slot kept[2];

	push_epoch(1, 0, 0, 0);
	/* As left by a drain that was killed between its commit and the records' release. */
	memcpy(&kept[0], &consumer->slots[0], sizeof(kept[0]));
	memcpy(&kept[1], &worker->slots[0], sizeof(kept[1]));
	recover();
	fake_run_ask(&run, "SELECT 1");
	cr_assert_eq(mkdir(run.folder, 0700), 0);
	{
		char link[128];

		snprintf(link, sizeof(link), "%s-segments", run.database);
		cr_assert_eq(symlink(run.folder, link), 0);
	}
	{
		struct dlprof_segment *again = fake_run_segment(&run, consumer->header.pid,
								DLPROF_SEGMENT_ROOT);

		memcpy(&again->slots[0], &kept[0], sizeof(kept[0]));
		again = fake_run_segment(&run, worker->header.pid, 0);
		memcpy(&again->slots[0], &kept[1], sizeof(kept[1]));
	}
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM load"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM loader"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM process"), 2);
}

Test(drain, tells_of_lost_events_and_notes)
{
	static const char notes[] = "wwarned\n+a:b.c\n-d:e.f\niinfo\nwhalf a li";

	consumer->slots[0].lost_count = 3;
	consumer->slots[2].lost_count = 4;
	consumer->header.lost_count = 5;
	memcpy(consumer->header.notes, notes, sizeof(notes));
	consumer->header.notes_bytes = sizeof(notes);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count FROM loss"), 12);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM note"), 2);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM note WHERE level = 'warning' AND "
					"text = 'warned'"), 1);
	cr_expect_eq(
		fake_run_ask(&run, "SELECT value = 'a:b.c' FROM meta WHERE key = 'patch_found'"),
		1);
	cr_expect_eq(
		fake_run_ask(&run, "SELECT value = 'd:e.f' FROM meta WHERE key = 'patch_missing'"),
		1);
}

Test(drain, misses_no_point_that_was_found_later_or_in_another_process)
{
	static const char notes[] = "-a:b.c\n-a:b.cd\n-e.f\n-g:h.i\n+a:b.c\n-a:b.c\n";
	static const char others[] = "+g:h.i\n-k.l\n";

	memcpy(consumer->header.notes, notes, sizeof(notes));
	consumer->header.notes_bytes = sizeof(notes) - 1;
	memcpy(worker->header.notes, others, sizeof(others));
	worker->header.notes_bytes = sizeof(others) - 1;
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT value IN ('a:b.c,g:h.i', 'g:h.i,a:b.c') FROM meta "
					"WHERE key = 'patch_found'"),
		     1);
	cr_expect_eq(fake_run_ask(&run, "SELECT value IN ('a:b.cd,e.f,k.l', 'k.l,a:b.cd,e.f') FROM "
					"meta WHERE key = 'patch_missing'"),
		     1);
}

static void note(struct dlprof_segment *segment, const char *notes)
{
	segment->header.notes_bytes = (uint32_t)strlen(notes);
	memcpy(segment->header.notes, notes, strlen(notes));
}

/* A process's notes may set only the keys of meta that are meant for it. */
Test(drain, a_process_notes_only_what_it_may_say_of_itself)
{
	note(consumer, "mgpu.1 second\nmgpu.x bad\nmrun_id stolen\nmnvtx recorded\nmunheard of\n");
	recover();
	cr_assert_eq(fake_run_ask(&run, "SELECT COUNT(*) FROM meta WHERE key = 'gpu.1' AND value ="
					" 'second' OR key = 'nvtx' AND value = 'recorded'"), 2);
	cr_assert_eq(fake_run_ask(&run, "SELECT COUNT(*) FROM meta WHERE value = 'stolen' OR key IN"
					" ('gpu.x', 'unheard')"), 0);
}

Test(drain, names_the_frameworks_whose_modules_were_patched)
{
	note(consumer, "+paddle.io.reader:DataLoader.__iter__\n"
		       "+torchdata.nodes.loader:LoaderIterator.next\n-torch.utils.data:x\n"
		       "+prefetch_generator:BackgroundGenerator.run\n");
	recover();
	cr_assert(fake_run_ask(&run, "SELECT value = 'torchdata,prefetch_generator,paddle' "
				     "FROM meta WHERE key = 'frameworks'"));
}

Test(drain, tells_nothing_of_a_run_that_it_took_up_before)
{
	struct fake_run first = run;

	note(consumer, "+a:b.c\n-d:e.f\ndlibjpeg\n");
	recover();
	set_up();
	note(consumer, "+g:h.i\ndlibpng\ndlibjpeg\n");
	recover();
	cr_expect_eq(fake_run_ask(&first, "SELECT count(*) FROM meta WHERE value = 'libjpeg'"), 1);
	cr_expect_eq(
		fake_run_ask(&run, "SELECT count(*) FROM meta WHERE value = 'libpng,libjpeg'"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM meta WHERE value LIKE '%a:b.c%' OR "
					"value LIKE '%d:e.f%'"),
		     0);
	fake_run_remove(&first);
}

Test(drain, takes_notes_up_to_one_that_its_writer_never_finished)
{
	static const char notes[] = "wwhole\n\0\0\0\0\0\nwafter the hole\n";

	memcpy(consumer->header.notes, notes, sizeof(notes));
	consumer->header.notes_bytes = sizeof(notes) - 1;
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM note"), 1);
}

static void cut(const struct dlprof_segment *segment, off_t size)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%d-1-0.seg", run.folder, segment->header.pid);
	cr_assert_eq(truncate(path, size), 0);
}

Test(drain, survives_a_segment_that_was_cut_short)
{
	push_epoch(1, 0, 0, 0);
	cut(worker, 9000);
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(load_ns) FROM batch"), 0);
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM note WHERE text LIKE '%damaged%'"),
		     1);
}

Test(drain, survives_a_ring_that_claims_too_much)
{
	push_epoch(1, 0, 0, 0);
	worker->slots[0].head = UINT64_MAX / 2;
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM batch"), 3);
	cr_expect_gt(fake_run_ask(&run, "SELECT sum(count) FROM loss"), 0);
}

static struct dlprof_event stage(uint32_t number, struct dlprof_stage stage)
{
	return (struct dlprof_event){.kind = DLPROF_EVENT_STAGE, .task = number, .stage = stage};
}

static struct dlprof_event stage_sum(uint32_t number, uint64_t begin, uint64_t stream,
				     uint64_t cpu_ns)
{
	return (struct dlprof_event){
		.kind = DLPROF_EVENT_STAGE_SUM,
		.task = number,
		.begin_ns = begin * MS,
		.duration_ns = 50 * MS,
		.stream = stream,
		.stage_sum = {.elements = 8, .busy_ns = 70, .own_ns = 60, .cpu_ns = cpu_ns,
			      .read_ns = 30, .ready = 5},
	};
}

Test(drain, stages_of_a_pipeline_and_what_they_did)
{
	push_epoch(1, 0, 0, 0);
	PUSH(consumer, stage(1, ((struct dlprof_stage){.flags = DLPROF_STAGE_ROOT, .threads = 4,
						       .parallel = -1, .capacity = -1,
						       .name = "Root"})));
	PUSH(consumer, stage(2, ((struct dlprof_stage){.parent = 1, .parallel = 0, .capacity = 8,
						       .flags = DLPROF_STAGE_AUTOTUNED,
						       .threads = -1, .name = "Prefetch"})));
	PUSH(consumer, stage(3, ((struct dlprof_stage){.parent = 2, .flags = DLPROF_STAGE_KERNEL,
						       .parallel = -1, .capacity = -1,
						       .threads = -1, .name = "DecodeJpeg"})));
	PUSH(consumer, stage_sum(2, 10, FAKE_STREAM, 20));
	PUSH(consumer, stage_sum(2, 60, 0, UINT64_MAX));
	PUSH(consumer, stage_sum(3, 10, FAKE_STREAM + 1, 20));
	recover();
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM t_stage"), 3);
	cr_expect_eq(fake_run_ask(&run, "SELECT root FROM t_stage WHERE name = 'Root'"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT parent FROM t_stage WHERE name = 'Root'"), -1);
	cr_expect_eq(fake_run_ask(&run, "SELECT threads FROM t_stage WHERE name = 'Root'"), 4);
	cr_expect_eq(fake_run_ask(&run, "SELECT capacity FROM t_stage WHERE name = 'Root'"), -1);
	cr_expect_eq(fake_run_ask(&run, "SELECT p.name = 'Root' FROM t_stage s JOIN t_stage p ON"
					" p.number = s.parent WHERE s.name = 'Prefetch'"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT autotuned AND NOT root AND NOT kernel AND"
					" parallel = 0 AND capacity = 8 AND kind = 'prefetch'"
					" FROM t_stage WHERE name = 'Prefetch'"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT kernel AND NOT root AND NOT autotuned FROM t_stage"
					" WHERE name = 'DecodeJpeg'"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT elements = 8 AND busy_ns = 70 AND own_ns = 60 AND"
					" cpu_ns = 20 AND read_ns = 30 AND ready = 5 AND epoch = 0"
					" AND loader_id = 1 AND window_ns = 50000000"
					" FROM t_stage_sum WHERE begin_ns = 10000000"
					" AND loader_id"), 1);
	cr_expect_eq(fake_run_ask(&run, "SELECT epoch FROM t_stage_sum WHERE begin_ns > 50000000"),
		     -1, "of several epochs");
	cr_expect_eq(fake_run_ask(&run, "SELECT cpu_ns FROM t_stage_sum WHERE begin_ns > 50000000"),
		     -1, "it is not known");
	cr_expect_eq(fake_run_ask(&run, "SELECT count(*) FROM t_stage_sum WHERE epoch IS NULL"), 2,
		     "an epoch that nobody knows is none");
}

Test(drain, survives_any_bytes)
{
	unsigned int seed = 20261121;

	for (int round = 0; round < 100; round++) {
		char *bytes = (char *)worker->slots;

		fake_run_remove(&run);
		set_up();
		push_epoch(1, 0, 0, 0);
		/* Damages mostly the headers and the first records. */
		for (int i = 0; i < 400; i++) {
			bytes = i % 2 ? (char *)worker : (char *)consumer;
			bytes[sizeof(uint64_t) + (unsigned int)rand_r(&seed) %
			      (i % 4 < 2 ? 1400 : SEGMENT_PROBE_BYTES)] = (char)rand_r(&seed);
		}
		worker->header.pid = consumer->header.pid = fake_run_dead_pid();
		/* The processes must count as dead, whatever the damaged headers say. */
		worker->header.ended_ns = consumer->header.ended_ns = 1;
		recover();
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how the drain writes tallies: it sums them, adds each once, and trusts none. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/drain.h"
#include "fake_run.h"

#define FILES	DLPROF_TALLY_NAMED_COUNT
#define SAMPLES (DLPROF_TALLY_COUNT - DLPROF_TALLY_KERNEL_COUNT - DLPROF_TALLY_SAMPLE_COUNT)

static struct fake_run run;
static struct dlprof_segment *consumer, *worker;

static void set_up(void)
{
	fake_run_make(&run);
	consumer = fake_run_segment(&run, fake_run_dead_pid(), DLPROF_SEGMENT_ROOT);
	worker = fake_run_segment(&run, fake_run_dead_pid(), 0);
}

static void tear_down(void)
{
	fake_run_remove(&run);
}

TestSuite(drain_tally, .init = set_up, .fini = tear_down);

static void recover(void)
{
	struct recovered recovered;

	cr_assert_eq(drain_recover(run.database, &recovered), 0);
	cr_assert_not(recovered.live);
}

/* Returns the number that a query gives, which must succeed. */
#define ASK(sql) fake_run_ask(&run, sql)

static struct dlprof_tally *put(struct dlprof_segment *segment, size_t slot, size_t place,
				enum dlprof_tally_kind kind, const char *name, uint64_t ns)
{
	struct dlprof_tally *tally = &segment->slots[slot].tallies[place];

	segment->header.tids[slot] = (uint32_t)segment->header.pid;
	*tally = (struct dlprof_tally){
		.version = 2, .kind = kind, .count = 1, .ns = ns, .slowest_ns = ns, .bytes = 10,
		.pixels = 100,
	};
	snprintf(tally->name, sizeof(tally->name), "%s", name);
	strcpy(tally->detail, kind == DLPROF_TALLY_FILE ? "" : "detail");
	return tally;
}

/* Makes the folder again, with the segment of a process that ended while no drain ran. */
static void bring_back(const struct dlprof_segment *segment, const struct dlprof_slot *slots,
		       uint32_t flags)
{
	struct dlprof_segment *again;
	char link[128];

	snprintf(link, sizeof(link), "%s-segments", run.database);
	mkdir(run.folder, 0700);
	if (symlink(run.folder, link) < 0)
		cr_log_info("the link is still there");
	again = fake_run_segment(&run, segment->header.pid, flags);
	memcpy(again->slots, slots, sizeof(again->slots));
}

Test(drain_tally, all_slots_of_all_segments_are_summed)
{
	put(consumer, 0, 0, DLPROF_TALLY_STEP, "Resize", 5);
	put(worker, 0, 3, DLPROF_TALLY_STEP, "Resize", 7);
	put(worker, 2, 0, DLPROF_TALLY_STEP, "Resize", 11);
	put(worker, 2, 1, DLPROF_TALLY_DECODE, "Resize", 13);
	put(worker, 0, SAMPLES, DLPROF_TALLY_SAMPLE, "/a.jpg", 30);
	put(worker, 2, SAMPLES, DLPROF_TALLY_SAMPLE, "/a.jpg", 20);
	recover();
	cr_expect_eq(ASK("SELECT ns FROM step WHERE name = 'Resize'"), 23);
	cr_expect_eq(ASK("SELECT count FROM step WHERE name = 'Resize'"), 3);
	cr_expect_eq(ASK("SELECT slowest_ns FROM step WHERE name = 'Resize'"), 11);
	cr_expect_eq(ASK("SELECT ns FROM decode WHERE library = 'Resize'"), 13);
	cr_expect_eq(ASK("SELECT made_bytes FROM decode"), 100);
	cr_expect_eq(ASK("SELECT ns FROM sample"), 30, "of a sample, its slowest");
	cr_expect_eq(ASK("SELECT count(*) FROM t_live"), 0);
	cr_expect_eq(ASK("SELECT count(*) FROM t_folded"), 2);
}

/* The slot of an ended thread that made no record; an earlier drain has freed the slot. */
Test(drain_tally, what_a_freed_slot_holds_is_summed)
{
	put(worker, 1, 0, DLPROF_TALLY_FILE, "/data/a.zarr", 17);
	worker->header.tids[1] = 0;
	recover();
	cr_expect_eq(ASK("SELECT ns FROM file WHERE path = '/data/a.zarr'"), 17);
}

Test(drain_tally, a_drain_killed_before_it_removes_the_segment_adds_nothing_twice)
{
	static struct dlprof_slot slots[DLPROF_SLOT_COUNT];

	put(worker, 0, 0, DLPROF_TALLY_STEP, "Resize", 7);
	put(worker, 0, FILES, DLPROF_TALLY_FILE, "/a.jpg", 70);
	for (int i = 0; i < DLPROF_TALLY_FILE_COUNT; i++)
		put(worker, 1, (size_t)(FILES + i), DLPROF_TALLY_FILE, "/b.jpg", 50);
	memcpy(slots, worker->slots, sizeof(slots));
	recover();
	cr_expect_eq(ASK("SELECT ns FROM unlisted WHERE kind = 'file'"), 50);
	for (int i = 0; i < 3; i++) {
		bring_back(worker, slots, DLPROF_SEGMENT_ROOT);
		recover();
	}
	cr_expect_eq(ASK("SELECT ns FROM step"), 7);
	cr_expect_eq(ASK("SELECT ns FROM file WHERE path = '/a.jpg'"), 70);
	cr_expect_eq(ASK("SELECT ns FROM unlisted WHERE kind = 'file'"), 50);
}

Test(drain_tally, a_drain_killed_before_it_folds_starts_from_what_is_there)
{
	static struct dlprof_slot slots[DLPROF_SLOT_COUNT];
	char *sql = sqlite3_mprintf(
		"DELETE FROM t_total; DELETE FROM t_folded; INSERT INTO t_live VALUES "
		"('%d-1-0.seg', 0, 0, 'step', 'Resize', 'detail', 0, 1, 3, 0, 0, 3, 0)",
		worker->header.pid);
	sqlite3 *handle;

	put(worker, 0, 0, DLPROF_TALLY_STEP, "Resize", 7);
	memcpy(slots, worker->slots, sizeof(slots));
	recover();
	/* As if the drain's last act had been to write the live rows. */
	cr_assert_eq(sqlite3_open(run.database, &handle), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
	sqlite3_free(sql);
	bring_back(worker, slots, DLPROF_SEGMENT_ROOT);
	recover();
	cr_expect_eq(ASK("SELECT ns FROM step"), 7, "overwritten, not added to");
	cr_expect_eq(ASK("SELECT count FROM step"), 1);
	cr_expect_eq(ASK("SELECT count(*) FROM t_live"), 0);
}

Test(drain_tally, a_tally_that_is_not_whole_is_left_out)
{
	struct dlprof_tally *folder;

	put(worker, 0, 0, DLPROF_TALLY_STEP, "whole", 7);
	put(worker, 0, 1, DLPROF_TALLY_STEP, "odd", 7)->version = 3;
	put(worker, 0, 2, DLPROF_TALLY_KIND_MAX, "no kind", 7);
	put(worker, 0, 3, (enum dlprof_tally_kind)UINT32_MAX, "no kind", 7);
	put(worker, 0, 4, DLPROF_TALLY_NONE, "none", 7);
	folder = put(worker, 0, FILES, DLPROF_TALLY_FOLDER, "/only/named", 0);
	folder->count = folder->bytes = 0;
	recover();
	cr_expect_eq(ASK("SELECT count(*) FROM t_tally"), 1);
	cr_expect_eq(ASK("SELECT name = 'whole' FROM step"), 1);
}

Test(drain_tally, names_without_an_end_are_cut)
{
	struct dlprof_tally *tally = put(worker, 0, 0, DLPROF_TALLY_STEP, "x", 7);

	memset(tally->name, 'n', sizeof(tally->name));
	memset(tally->detail, 'd', sizeof(tally->detail));
	tally = put(worker, 0, 1, DLPROF_TALLY_STEP, "x", 7);
	memset(tally->name, 0xff, sizeof(tally->name));	/* not valid text in any encoding */
	recover();
	cr_expect_eq(ASK("SELECT count(*) FROM step"), 2);
	cr_expect_eq(ASK("SELECT length(name) FROM step WHERE name LIKE 'n%'"),
		     DLPROF_TALLY_NAME_BYTES - 1);
	cr_expect_eq(ASK("SELECT length(module) FROM step WHERE name LIKE 'n%'"),
		     DLPROF_TALLY_DETAIL_BYTES - 1);
}

Test(drain_tally, huge_numbers_do_not_overflow)
{
	for (size_t slot = 0; slot < DLPROF_SLOT_COUNT; slot++)
		for (size_t place = 0; place < DLPROF_TALLY_COUNT; place++) {
			struct dlprof_tally *tally = put(worker, slot, place, DLPROF_TALLY_STEP,
							 "huge", UINT64_MAX);

			tally->count = tally->bytes = tally->pixels = tally->error_ns = UINT64_MAX;
		}
	recover();
	cr_expect_gt(ASK("SELECT ns FROM step"), INT64_MAX / 12);
	cr_expect_gt(ASK("SELECT count FROM step"), 0);
}

Test(drain_tally, huge_numbers_of_many_processes_do_not_either)
{
	for (int process = 0; process < 20; process++) {
		struct dlprof_segment *one = fake_run_segment(&run, fake_run_dead_pid(), 0);

		for (size_t slot = 0; slot < DLPROF_SLOT_COUNT; slot++)
			for (size_t place = 0; place < DLPROF_TALLY_COUNT; place++)
				put(one, slot, place, DLPROF_TALLY_STEP, "huge", UINT64_MAX);
	}
	recover();
	cr_expect_gt(ASK("SELECT ns FROM step"), INT64_MAX / 12);
	cr_expect_gt(ASK("SELECT CAST(SUM(ns) AS INTEGER) FROM t_tally"), 0);
	cr_expect_gt(ASK("SELECT CAST(ns - error_ns AS INTEGER) FROM t_tally"), 0);
}

/* Of 300 files in five processes the lightest are dropped, and their time is told as unlisted. */
Test(drain_tally, a_trim_keeps_the_heaviest)
{
	char name[40];

	for (int process = 0; process < 5; process++) {
		struct dlprof_segment *one = fake_run_segment(&run, fake_run_dead_pid(), 0);

		for (int i = 0; i < 60; i++) {
			int number = process * 60 + i;

			snprintf(name, sizeof(name), "/%d.jpg", number);
			put(one, 0, (size_t)(FILES + i), DLPROF_TALLY_FILE, name,
			    (uint64_t)(1000 + number * 7919 % 300));
		}
	}
	recover();
	cr_expect_eq(ASK("SELECT count(*) FROM file"), 256);
	/* The files took 1000 to 1299 ns, each once: the lightest 44 were dropped. */
	cr_expect_eq(ASK("SELECT MIN(ns) FROM file"), 1044);
	cr_expect_eq(ASK("SELECT MAX(ns) FROM file"), 1299);
	/* It depends on the order in which processes were summed, but is at least this. */
	cr_expect_geq(ASK("SELECT ns FROM unlisted WHERE kind = 'file'"), 1043);
	cr_expect_eq(ASK("SELECT count(*) FROM unlisted"), 1);
}

Test(drain_tally, named_ones_are_not_trimmed)
{
	char name[40];

	for (int process = 0; process < 6; process++) {
		struct dlprof_segment *one = fake_run_segment(&run, fake_run_dead_pid(), 0);

		for (int i = 0; i < DLPROF_TALLY_NAMED_COUNT; i++) {
			snprintf(name, sizeof(name), "step%d", process * 64 + i);
			put(one, 0, (size_t)i, DLPROF_TALLY_STEP, name, 1);
		}
	}
	recover();
	cr_expect_eq(ASK("SELECT count(*) FROM step"), 6 * 64);
	cr_expect_eq(ASK("SELECT count(*) FROM unlisted"), 0);
}

Test(drain_tally, unlisted_is_nothing_while_there_is_room)
{
	for (int i = 0; i < DLPROF_TALLY_FILE_COUNT - 1; i++) {
		char name[40];

		snprintf(name, sizeof(name), "/%d.jpg", i);
		put(worker, 0, (size_t)(FILES + i), DLPROF_TALLY_FILE, name, 100);
	}
	recover();
	cr_expect_eq(ASK("SELECT count(*) FROM unlisted"), 0);
}

/* A damaged or hostile process may write any bytes to its tallies. */
Test(drain_tally, survives_any_bytes)
{
	unsigned int seed = 20261121;

	for (int round = 0; round < 15; round++) {
		unsigned char *bytes = (unsigned char *)worker->slots[0].tallies;

		for (size_t i = 0; i < sizeof(worker->slots[0].tallies); i++)
			bytes[i] = (unsigned char)rand_r(&seed);
		for (int i = 0; i < DLPROF_TALLY_COUNT; i++) {
			worker->slots[0].tallies[i].kind %= DLPROF_TALLY_KIND_MAX + 1;
			worker->slots[0].tallies[i].version &= i % 4 ? ~1u : ~0u;
		}
		worker->header.tids[0] = 1;
		recover();
		cr_expect_gt(ASK("SELECT count(*) FROM t_tally"), 0);
		cr_expect_geq(ASK("SELECT CAST(TOTAL(ns) AS INTEGER) FROM t_tally"), 0);
		fake_run_remove(&run);
		set_up();
	}
}

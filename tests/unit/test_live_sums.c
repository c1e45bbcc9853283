/* SPDX-License-Identifier: Apache-2.0 */
/* What a running training's metrics say, and the file that Prometheus reads. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "drain/metrics/live.h"
#include "fake_run.h"
#include "store/database/db_open.h"

static struct live live;

/* Batches of two workers, taken by the first process's thread 9. */
static const struct live_place PLACE = {
	.consumer = {7, 1}, .tid = 9, .workers = 2, .setup_begin_ns = 0, .setup_ns = 5};

static struct batch_values batch(int64_t number, int64_t begin_ns, int64_t wait_ns,
				 int64_t compute_ns)
{
	struct batch_values values;

	batch_values_init(&values);
	values.batch = number;
	values.begin_ns = begin_ns;
	values.wait_ns = wait_ns;
	values.compute_ns = compute_ns;
	values.step_ns = wait_ns + compute_ns;
	return values;
}

static void take(const struct live_place *of, struct batch_values values)
{
	live_row(&live, of, &values, false, true);
}

static double value(enum metric metric)
{
	return live.now.value[metric];
}

Test(live, waits_are_of_one_part_each)
{
	struct batch_values values = batch(0, 1000, 50, 100);

	take(&PLACE, values);
	cr_expect_eq(value(METRIC_BATCHES), 1);
	cr_expect_eq(value(METRIC_WAIT_EPOCH_START), 0, "the first wait is start-up");
	take(&PLACE, batch(1, 1150, 20, 100));
	cr_expect_eq(value(METRIC_WAIT_EPOCH_START), 20, "of the second worker's first batch");
	/* ready 30 after it was asked for, in hand 10 later */
	values = batch(2, 1270, 40, 100);
	values.load_begin_ns = 1200;
	values.load_ns = 100;
	values.sample_ns = 4;
	values.qdepth = 3;
	take(&PLACE, values);
	cr_expect_eq(value(METRIC_WAIT_NOT_READY), 30);
	cr_expect_eq(value(METRIC_WAIT_RECEIVING), 6);
	cr_expect_eq(value(METRIC_WAIT_SAMPLING), 4);
	cr_expect_eq(value(METRIC_QUEUE), 3);
	cr_expect_eq(value(METRIC_LAST_BATCH), 1310);
	/* Of this one nobody knows when it was ready; memory was freed in 2. */
	values = batch(3, 1410, 7, 100);
	values.free_ns = 2;
	take(&PLACE, values);
	cr_expect_eq(value(METRIC_WAIT_UNKNOWN), 9);
	cr_expect_eq(value(METRIC_WAIT_NOT_READY), 30);
	live_stop(&live, &PLACE, 1517, 11);
	cr_expect_eq(value(METRIC_WAIT_EPOCH_END), 11);
	cr_assert_eq(live.now.thread_count, 1);
	cr_expect_eq(live.now.threads[0].begin_ns, 1050);
	cr_expect_eq(live.now.threads[0].end_ns, 1528);
	cr_expect_eq(value(METRIC_BATCHES), 4);
}

Test(live, the_next_epoch_starts_with_its_setup)
{
	struct live_place next = PLACE;

	take(&PLACE, batch(0, 1000, 50, 100));
	next.setup_begin_ns = 1150;
	next.setup_ns = 8;
	take(&next, batch(0, 1160, 3, 100));
	cr_expect_eq(value(METRIC_WAIT_EPOCH_START), 11);
	next.setup_begin_ns = 1049;
	take(&next, batch(0, 1300, 3, 100));
	cr_expect_eq(value(METRIC_WAIT_EPOCH_START), 14, "a setup before the account began");
}

Test(live, loads_count_where_they_were_made)
{
	struct batch_values values = batch(0, 1000, 50, 100);

	values.load_ns = 70;
	values.read_bytes = 600;
	values.storage_bytes = 500;
	live_row(&live, &PLACE, &values, true, false);
	cr_expect(value(METRIC_LOAD) == 70 && value(METRIC_READ) == 600);
	cr_expect(value(METRIC_STORAGE) == 500 && value(METRIC_BATCHES) == 0);
	values.load_ns = INT64_MAX;
	live_row(&live, &PLACE, &values, true, false);
	cr_expect_eq(value(METRIC_LOAD), 70, "a damaged record");
}

Test(live, a_batch_within_another_ones_wait_is_none)
{
	struct live_place nested = PLACE;

	nested.nested = true;
	take(&nested, batch(0, 1000, 50, 100));
	live_stop(&live, &nested, 1517, 11);
	cr_expect(value(METRIC_BATCHES) == 0 && value(METRIC_WAIT_EPOCH_END) == 0);
	cr_expect_eq(live.now.thread_count, 0);
}

Test(live, batches_that_were_not_ready_starve_a_step)
{
	for (int64_t i = 0; i < 40; i++) {
		struct batch_values values =
			batch(i, i * 200000000, i % 4 == 2 ? 20000000 : 1000, 100000000);

		values.head_ready = i == 22;
		take(&PLACE, values);
	}
	/* Every fourth one is waited for for 20 ms, of steps of 100 ms; one of these was ready. */
	cr_expect_eq(value(METRIC_STARVED), 9, "%g", value(METRIC_STARVED));
	/* The same wait is short beside steps of 10 s. */
	live = (struct live){.due_ns = 0};
	for (int64_t i = 0; i < 40; i++)
		take(&PLACE, batch(i, i * 20000000000, 20000000, 10000000000));
	cr_expect_eq(value(METRIC_STARVED), 0);
}

Test(live, of_many_threads_eight_have_an_account)
{
	for (int64_t i = 0; i < 20; i++) {
		struct live_place place = PLACE;

		place.tid = i % 10;
		take(&place, batch(i, 1000 + i, 1, 1));
	}
	cr_expect_eq(live.now.thread_count, LIVE_THREADS);
	cr_expect_eq(value(METRIC_BATCHES), 20);
	/* A process of the same number that came later is another one. */
	struct live_place other = PLACE;

	live = (struct live){.due_ns = 0};
	take(&PLACE, batch(0, 1000, 1, 1));
	other.consumer.begun_ns = 2;
	take(&other, batch(0, 1000, 1, 1));
	cr_expect_eq(live.now.thread_count, 2);
}

Test(live, what_was_not_committed_is_taken_back)
{
	take(&PLACE, batch(0, 1000, 50, 100));
	live_committed(&live);
	take(&PLACE, batch(1, 1150, 50, 100));
	live_rewind(&live);
	cr_expect_eq(value(METRIC_BATCHES), 1);
}

Test(live, a_file_has_each_metric_under_its_name)
{
	const struct live_labels labels = {.job_id = (char[]){"a \"job\"\n\xc3\xa9"},
					   .run_id = (char[]){"not this"},
					   .version = (char[]){"1"}, .rank = 3, .local_rank = -1};
	double value[METRIC_MAX];
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (int i = 0; i < METRIC_MAX; i++)
		value[i] = i;
	value[METRIC_QUEUE] = NAN;
	metrics_put(out, &labels, value);
	fclose(out);
	cr_expect(strstr(text, "# HELP dlprof_batches_total Batches that the training took.\n"
			       "# TYPE dlprof_batches_total counter\n"
			       "dlprof_batches_total{job_id=\"a \\\"job\\\"???\",rank=\"3\","
			       "local_rank=\"0\"} 0\n"), "%s", text);
	cr_expect(strstr(text, "local_rank=\"0\",part=\"receiving\"} 4\n"), "%s", text);
	cr_expect(strstr(text, "dlprof_run_info{job_id=\"a \\\"job\\\"???\",rank=\"3\","
			       "local_rank=\"0\",version=\"1\",clock=\"host\"} 16\n"), "%s", text);
	cr_expect_null(strstr(text, "dlprof_queue_depth_batches{"), "not known");
	cr_expect_str_eq(text + size - 6, "# EOF\n");
	free(text);
}

static struct fake_run run;
static char folder[80], stale[160], recent[160], others[160];

static void leave(char *path, size_t size, const char *name, time_t age_s)
{
	const struct utimbuf times = {time(NULL) - age_s, time(NULL) - age_s};

	snprintf(path, size, "%s/%s", folder, name);
	fclose(fopen(path, "w"));
	cr_assert_eq(utime(path, &times), 0);
}

static bool file_has(const char *text)
{
	char content[8192] = "";
	FILE *file = fopen(live.path, "r");

	cr_assert(file);
	fread(content, 1, sizeof(content) - 1, file);
	fclose(file);
	return strstr(content, text) != NULL;
}

Test(live, the_file_is_there_while_the_training_runs)
{
	struct writer *writer;
	struct db *db;

	fake_run_make(&run);
	cr_assert_eq(db_open_write(run.database, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(writer_meta_number(writer, META_RANK, 5), 0);
	strcpy(folder, "/tmp/dlprof-live-XXXXXX");
	cr_assert(mkdtemp(folder));
	leave(stale, sizeof(stale), "dlprof-1-2.prom", 400);
	leave(recent, sizeof(recent), "dlprof-1-3.prom", 200);
	leave(others, sizeof(others), "node.prom", 400);
	live_begin(&live, "/dev/shm/dlprof-7-11");
	cr_expect_null(live_wanted(&live), "no metrics are wanted");
	setenv("DLPROF_METRICS_DIR", folder, 1);
	live_begin(&live, "/dev/shm/dlprof-7-11");
	cr_assert_not_null(live_wanted(&live));
	cr_expect(access(stale, F_OK) < 0, "a killed drain left it");
	cr_expect(access(recent, F_OK) == 0 && access(others, F_OK) == 0);
	take(&PLACE, batch(0, 1000, 50, 100));
	take(&PLACE, batch(1, 1000000000, 500000000, 1500000000));
	cr_assert_eq(live_update(&live, db, writer, NULL, 0, 1), 0);
	cr_expect(file_has("dlprof_batches_total{") && file_has("} 0\n"), "nothing is committed");
	live_committed(&live);
	cr_assert_eq(live_update(&live, db, writer, NULL, 0, 2), 0);
	cr_expect_not(file_has("rank=\"5\",local_rank=\"0\"} 2\n"), "every 15 seconds");
	cr_assert_eq(live_update(&live, db, writer, NULL, 0, 15000000001), 0);
	cr_expect(file_has("rank=\"5\",local_rank=\"0\"} 2\n"));
	cr_expect(file_has("part=\"epoch_start\"} 0.5\n"));
	/* From 1,050 ns to 3 s, without the wait of half a second. */
	cr_expect(file_has("dlprof_compute_seconds_total{") && file_has("} 2.49999895\n"));
	cr_expect(access(live.part, F_OK) < 0);
	live_end(&live);
	cr_expect(access(live.path, F_OK) < 0, "the run is over");
	unlink(recent);
	unlink(others);
	rmdir(folder);
	writer_close(writer);
	db_close(db);
	fake_run_remove(&run);
}

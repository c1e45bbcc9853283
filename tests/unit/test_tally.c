/* SPDX-License-Identifier: Apache-2.0 */
/* Compares tallies in a real segment with exact sums of the same calls. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "record/activate.h"
#include "record/fd.h"
#include "record/segment.h"
#include "record/span.h"
#include "record/tally.h"
#include "record/thread.h"

#define FILES	DLPROF_TALLY_NAMED_COUNT
#define FOLDERS (FILES + DLPROF_TALLY_FILE_COUNT)
#define SAMPLES (FOLDERS + DLPROF_TALLY_FOLDER_COUNT)
#define NAMES	500

static const volatile uint32_t on = 1;
static char folder[] = "/tmp/dlprof-tally-XXXXXX";

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	thread_life = 1;
	cr_assert_eq(segment_open(folder, 0, -1, -1), 0);
	activate_cell = &on;
	config.detail = CONFIG_DETAIL_BATCHES;
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(tally, .init = set_up, .fini = tear_down);

static struct dlprof_tally *step(const char *name, uint64_t class)
{
	return tally_named(thread_get(), DLPROF_TALLY_STEP, name, "transform", class);
}

Test(tally, a_named_one_is_found_again)
{
	struct dlprof_tally *first = step("Resize", 0);

	cr_assert(first);
	cr_expect_str_eq(first->name, "Resize");
	cr_expect_str_eq(first->detail, "transform");
	cr_expect_eq(first->kind, DLPROF_TALLY_STEP);
	cr_expect_eq(step("Resize", 0), first);
	/* Tallies differ if any part of the name does, and if one has no detail. */
	cr_expect_neq(step("Resize", 1), first);
	cr_expect_neq(step("Resiz", 0), first);
	cr_expect_neq(tally_named(thread_get(), DLPROF_TALLY_STEP, "Resize", NULL, 0), first);
	cr_expect_neq(tally_named(thread_get(), DLPROF_TALLY_DECODE, "Resize", "transform", 0),
		      first);
	cr_expect_eq(tally_named(thread_get(), DLPROF_TALLY_STEP, "Resize", NULL, 0),
		     tally_named(thread_get(), DLPROF_TALLY_STEP, "Resize", "", 0));
}

Test(tally, what_finds_no_room_is_counted)
{
	const struct dlprof_slot *slot = thread_get()->slot;
	char name[16];

	for (int i = 0; i < DLPROF_TALLY_NAMED_COUNT; i++) {
		snprintf(name, sizeof(name), "step%d", i);
		cr_assert(step(name, 0));
	}
	cr_expect_eq(slot->unnamed_count, 0);
	for (int i = 0; i < 5; i++)
		cr_expect_null(step("one too many", 0));
	cr_expect_eq(slot->unnamed_count, 5);
	cr_expect_eq(slot->tallies[FILES].kind, DLPROF_TALLY_NONE, "wrote into the files' places");
	cr_assert(step("step63", 0), "those that are there stay");
	tally_add(NULL, 1, 1, 1);	/* does nothing for NULL */
}

Test(tally, long_names_keep_their_end)
{
	char name[300], detail[100];
	struct dlprof_tally *tally;

	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = (char)('a' + i % 26);
	name[sizeof(name) - 1] = '\0';
	memset(detail, 'd', sizeof(detail));
	strcpy(detail + 90, "end");
	tally = tally_named(thread_get(), DLPROF_TALLY_FILE, name, detail, 0);
	cr_expect_str_eq(tally->name, name + strlen(name) - (DLPROF_TALLY_NAME_BYTES - 1));
	cr_expect_str_eq(tally->detail, detail + strlen(detail) - (DLPROF_TALLY_DETAIL_BYTES - 1));
	cr_expect_eq(tally_named(thread_get(), DLPROF_TALLY_FILE, name, detail, 0), tally,
		     "a name that was cut is found again");
}

Test(tally, width_classes)
{
	static const uint32_t rows[][2] = {
		{0, 128}, {1, 128}, {128, 128}, {129, 256}, {224, 256}, {1024, 1024}, {1025, 2048},
		{16385, 65536}, {65536, 65536}, {UINT32_MAX, 65536},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(tally_width_class(rows[i][0]), rows[i][1], "%u", rows[i][0]);
}

/* Exact sums by name, for which the tallies' bounds must hold. */
static struct {
	uint64_t files[NAMES], folders[NAMES];
} exact;

static unsigned int seed = 20261121;

static double uniform(void)
{
	return (rand_r(&seed) + 0.5) / (RAND_MAX + 1.0);
}

static void visit(int number, int folder_number, uint64_t ns)
{
	char path[64];

	/* Each file gets the same descriptor, as the kernel uses them again. */
	snprintf(path, sizeof(path), "/data/%d/%d.jpg", folder_number, number);
	fd_remember(20, FD_NAMED, path);
	tally_file(thread_get(), 20, 1, ns / 2, 10);
	tally_file(thread_get(), 20, 0, ns - ns / 2, 10);	/* a read of the same file */
	exact.files[number] += ns;
	exact.folders[folder_number] += ns;
}

static void expect_bounds(int first, int count, const uint64_t *truth, const char *format)
{
	const struct dlprof_tally *tallies = &thread_get()->slot->tallies[first];
	uint64_t lightest_ns = UINT64_MAX;
	bool listed[NAMES] = {false};
	int number;

	for (int i = 0; i < count; i++) {
		const struct dlprof_tally *tally = &tallies[i];

		if (tally->kind == DLPROF_TALLY_NONE) {
			lightest_ns = 0;
			continue;
		}
		cr_assert_eq(sscanf(tally->name, format, &number), 1, "%s", tally->name);
		cr_expect_not(listed[number], "%s is listed twice", tally->name);
		listed[number] = true;
		cr_expect_leq(truth[number], tally->ns, "%s", tally->name);
		cr_expect_geq(truth[number], tally->ns - tally->error_ns, "%s", tally->name);
		cr_expect_leq(tally->error_ns, tally->ns, "%s", tally->name);
		if (tally->ns < lightest_ns)
			lightest_ns = tally->ns;
	}
	for (int i = 0; i < NAMES; i++)
		cr_expect(listed[i] || truth[i] <= lightest_ns, "%d took %lu, the lightest %lu", i,
			  (unsigned long)truth[i], (unsigned long)lightest_ns);
}

static void expect_all_bounds(void)
{
	tally_settle(thread_get());	/* a folder gets a file's time at the next file */
	expect_bounds(FILES, DLPROF_TALLY_FILE_COUNT, exact.files, "/data/%*d/%d.jpg");
	expect_bounds(FOLDERS, DLPROF_TALLY_FOLDER_COUNT, exact.folders, "/data/%d");
}

Test(tally, few_names_are_exact)
{
	const struct dlprof_tally *tallies = thread_get()->slot->tallies;

	for (int i = 0; i < 1000; i++)
		visit(i % 50, i % 10, (uint64_t)(uniform() * 1e6));
	expect_all_bounds();
	for (int i = FILES; i < SAMPLES; i++)
		cr_expect_eq(tallies[i].error_ns, 0);
	cr_expect_eq(tallies[FILES].count, 20, "opens, not operations: %lu",
		     (unsigned long)tallies[FILES].count);
	cr_expect_eq(tallies[FILES].bytes, 20 * 20);
	cr_expect_eq(tallies[FILES + 50].kind, DLPROF_TALLY_NONE);
}

Test(tally, uniform_streams_keep_their_bounds)
{
	for (int i = 0; i < 50000; i++) {
		int number = (int)(uniform() * NAMES);

		visit(number, number % 40, (uint64_t)(uniform() * 1e5));
		if (i % 5000 == 0)
			expect_all_bounds();
	}
	expect_all_bounds();
}

Test(tally, skewed_streams_name_the_heavy_ones)
{
	const struct dlprof_tally *tallies = &thread_get()->slot->tallies[FILES];
	int heaviest = 0, found = 0, number;

	for (int i = 0; i < 50000; i++) {
		/* Nearly Zipf's distribution: the first of 500 files gets half of the time. */
		number = (int)(NAMES * uniform() * uniform() * uniform() * uniform());
		visit(number, number % 40, (uint64_t)(1e5 * uniform() / (number + 1)));
	}
	expect_all_bounds();
	for (int i = 0; i < DLPROF_TALLY_FILE_COUNT; i++)
		if (tallies[i].ns - tallies[i].error_ns >
		    tallies[heaviest].ns - tallies[heaviest].error_ns)
			heaviest = i;
	cr_expect_str_eq(tallies[heaviest].name, "/data/0/0.jpg");
	for (int i = 0; i < DLPROF_TALLY_FILE_COUNT; i++)
		found += sscanf(tallies[i].name, "/data/%*d/%d.jpg", &number) == 1 && number < 10;
	cr_expect_eq(found, 10, "%d of the ten heaviest are listed", found);
}

Test(tally, a_name_that_comes_back_is_no_longer_certain)
{
	const struct dlprof_tally *tallies = &thread_get()->slot->tallies[FILES];

	visit(0, 0, 1);
	for (int i = 1; i <= DLPROF_TALLY_FILE_COUNT; i++)
		visit(i, 0, 100);
	visit(0, 0, 1);
	for (int i = 0; i < DLPROF_TALLY_FILE_COUNT; i++)
		if (strcmp(tallies[i].name, "/data/0/0.jpg") == 0)
			cr_expect_eq(tallies[i].error_ns, tallies[i].ns - 1);
	expect_all_bounds();
}

Test(tally, folders_of_odd_paths)
{
	static const struct {
		const char *path, *folder;
	} rows[] = {{"/x", "/"}, {"/a/x", "/a"}, {"/a/b/x", "/a/b"}, {"x", ""}};
	const struct dlprof_tally *tallies = thread_get()->slot->tallies;
	const struct dlprof_tally *at = &tallies[FOLDERS];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fd_remember(20, FD_NAMED, rows[i].path);
		tally_file(thread_get(), 20, 1, 5, 1);
		cr_expect_str_eq(tallies[FILES + i].name, rows[i].path);
		if (rows[i].folder[0])
			cr_expect_str_eq((at++)->name, rows[i].folder);
	}
	cr_expect_eq(at->kind, DLPROF_TALLY_NONE, "a bare name has no folder");
}

Test(tally, the_open_of_a_folder_is_taken_back)
{
	const struct dlprof_tally *tallies = thread_get()->slot->tallies;

	fd_remember(20, FD_NAMED, "/data/x");
	tally_file(thread_get(), 20, 1, 5, 1);
	tally_take_back(21);
	cr_expect_eq(tallies[FILES].ns, 5, "another descriptor");
	tally_take_back(20);
	cr_expect_eq(tallies[FILES].count + tallies[FILES].ns + tallies[FILES].bytes +
			     tallies[FILES].slowest_ns,
		     0);
	/* A descriptor that is no data after all has the name of an earlier file. */
	fd_remember(20, FD_NAMED, "/data/x");
	tally_file(thread_get(), 20, 1, 5, 1);
	fd_remember(20, FD_NAMED, "/data/x");
	tally_take_back(20);
	cr_expect_eq(tallies[FILES].ns, 5, "nothing was counted of this one");
	tally_file(thread_get(), 20, 1, 7, 2);
	tally_take_back(20);
	cr_expect_eq(tallies[FILES].count, 1);
	cr_expect_eq(tallies[FILES].ns, 5);
	tally_settle(thread_get());
	cr_expect_eq(tallies[FOLDERS].ns, 5);
	/* Time that the folder already has is not taken back. */
	tally_file(thread_get(), 20, 1, 7, 2);
	tally_settle(thread_get());
	tally_take_back(20);
	cr_expect_eq(tallies[FILES].ns, 12);
}

Test(tally, descriptors_that_share_a_place_in_the_table_of_paths)
{
	const struct dlprof_tally *tallies = thread_get()->slot->tallies;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/real", folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	fd_remember(fd, FD_NAMED, path);
	tally_file(thread_get(), fd, 1, 1, 1);
	fd_remember(fd + 512, FD_NAMED, "/data/other");	/* takes its place */
	tally_file(thread_get(), fd + 512, 1, 10, 1);
	tally_file(thread_get(), fd, 0, 100, 1);	/* asks the kernel for the path */
	cr_expect_str_eq(tallies[FILES].name, path);
	cr_expect_eq(tallies[FILES].ns, 101);
	cr_expect_eq(tallies[FILES + 1].ns, 10);
	close(fd);
}

Test(tally, the_slowest_samples_are_exact)
{
	static uint64_t slowest[40], asked[40];
	const struct dlprof_tally *tallies = &thread_get()->slot->tallies[SAMPLES];
	uint64_t least_ns = UINT64_MAX;

	for (int i = 0; i < 20000; i++) {
		uint64_t index = (uint64_t)(uniform() * 40), ns = 1 + (uint64_t)(uniform() * 1e9);

		tally_sample(thread_get(), "Photos", index, ns, "/data/a.jpg");
		asked[index]++;
		if (ns > slowest[index])
			slowest[index] = ns;
	}
	for (int i = 0; i < DLPROF_TALLY_SAMPLE_COUNT; i++) {
		cr_expect_eq(tallies[i].ns, slowest[tallies[i].class]);
		cr_expect_eq(tallies[i].error_ns, 0);
		/* count: how often the sample was among the slowest. */
		cr_expect(tallies[i].count >= 1 && tallies[i].count <= asked[tallies[i].class]);
		cr_expect_str_eq(tallies[i].detail, "Photos");
		if (tallies[i].ns < least_ns)
			least_ns = tallies[i].ns;
		slowest[tallies[i].class] = 0;	/* a sample that is listed twice would fail */
	}
	for (int i = 0; i < 40; i++)
		cr_expect_leq(slowest[i], least_ns);
}

Test(tally, a_sample_that_is_slow_again_is_counted)
{
	const struct dlprof_tally *tally = &thread_get()->slot->tallies[SAMPLES];

	for (int epoch = 0; epoch < 3; epoch++) {
		tally_sample(thread_get(), "Photos", 7, 1000 - 100 * (uint64_t)epoch,
			     "/data/a.jpg");
		for (uint64_t other = 0; other < 40; other++)
			tally_sample(thread_get(), "Photos", 100 + 40 * (uint64_t)epoch + other,
				     10 + other, "/data/b.jpg");
	}
	for (int i = 0; i < DLPROF_TALLY_SAMPLE_COUNT; i++)
		cr_expect_eq(tally[i].count, tally[i].class == 7 ? 3 : 1);
}

/* Makes a sample that opens these files one after the other; returns the file that names it. */
static const char *file_of_sample(const char *const *paths)
{
	tally_sample_begin(thread_get());
	for (; *paths; paths++) {
		fd_remember(20, FD_NAMED, *paths);
		tally_file(thread_get(), 20, 1, 5, 1);
	}
	return tally_sample_file(thread_get());
}

Test(tally, the_file_of_a_sample_is_its_own)
{
#define FILES_OF(...) ((const char *const[]){__VA_ARGS__, NULL})
	cr_expect_str_eq(file_of_sample(FILES_OF("/data/1")), "/data/1");
	/* The sample's file is opened twice, then the next one in its place. */
	cr_expect_str_eq(file_of_sample(FILES_OF("/data/2", "/data/2", "/data/3")), "/data/2");
	cr_expect_str_eq(file_of_sample(FILES_OF("/data/3")), "/data/3");
	/* An index file is opened before the file of each sample. */
	file_of_sample(FILES_OF("/data/index", "/data/4"));
	cr_expect_str_eq(file_of_sample(FILES_OF("/data/index", "/data/5")), "/data/5");
	/* The sample only reads a file that stays open. */
	tally_sample_begin(thread_get());
	tally_file(thread_get(), 20, 0, 5, 1);
	cr_expect_str_eq(tally_sample_file(thread_get()), "/data/5");
}

Test(tally, samples_of_two_datasets_are_two)
{
	const struct dlprof_tally *tallies = &thread_get()->slot->tallies[SAMPLES];

	tally_sample(thread_get(), "Train", 7, 100, NULL);
	tally_sample(thread_get(), "Test", 7, 200, NULL);
	tally_sample(thread_get(), "Train", 7, 150, "/data/b.jpg");
	cr_expect_eq(tallies[0].ns, 150);
	cr_expect_str_eq(tallies[0].name, "/data/b.jpg");
	cr_expect_eq(tallies[1].ns, 200);
	cr_expect_eq(tallies[2].kind, DLPROF_TALLY_NONE);
}

/* A second thread gets the slot, and finds its tallies again, also those found by hash. */
static void *second_owner(void *slot)
{
	struct thread thread;

	thread_reset(&thread, slot, (uint32_t)gettid());
	tally_add(tally_named(&thread, DLPROF_TALLY_STEP, "Resize", "transform", 0), 1, 7, 0);
	for (int i = 0; i < 40; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/0/%d.jpg", i);
		fd_remember(21, FD_NAMED, path);
		tally_file(&thread, 21, 1, 1000, 1);
	}
	tally_sample(&thread, "Photos", 3, 900, NULL);
	tally_settle(&thread);
	return NULL;
}

Test(tally, a_slot_taken_over_keeps_its_tallies)
{
	struct dlprof_slot *slot = thread_get()->slot;
	pthread_t other;

	tally_add(step("Resize", 0), 1, 5, 0);
	for (int i = 0; i < 40; i++)
		visit(i, 0, 100);
	tally_sample(thread_get(), "Photos", 3, 500, NULL);
	tally_settle(thread_get());
	cr_assert_eq(pthread_create(&other, NULL, second_owner, slot), 0);
	pthread_join(other, NULL);
	cr_expect_eq(slot->tallies[0].ns, 12);
	cr_expect_eq(slot->tallies[0].count, 2);
	cr_expect_eq(slot->tallies[1].kind, DLPROF_TALLY_NONE);
	for (int i = 0; i < 40; i++) {
		cr_expect_eq(slot->tallies[FILES + i].ns, 1100);
		cr_expect_eq(slot->tallies[FILES + i].error_ns, 0, "taken for a new name");
	}
	cr_expect_eq(slot->tallies[FILES + 40].kind, DLPROF_TALLY_NONE);
	cr_expect_eq(slot->tallies[FOLDERS].ns, 40 * 1100);
	cr_expect_eq(slot->tallies[SAMPLES].ns, 900);
	cr_expect_eq(slot->tallies[SAMPLES + 1].kind, DLPROF_TALLY_NONE);
}

/* Reads tallies as the drain does while their names change: none that it accepts may be torn. */
static _Atomic bool stop;

static void *reader(void *shared)
{
	const struct dlprof_tally *tallies = shared;
	static long torn;

	while (!stop) {
		for (int i = 0; i < DLPROF_TALLY_FOLDER_COUNT; i++) {
			const struct dlprof_tally *tally = &tallies[i];
			uint32_t version = atomic_load_explicit(&tally->version,
								memory_order_acquire);
			struct dlprof_tally copy;

			memcpy(&copy, (const void *)tally, sizeof(copy));
			atomic_thread_fence(memory_order_acquire);
			if (version % 2 || atomic_load(&tally->version) != version ||
			    copy.kind == DLPROF_TALLY_NONE)
				continue;
			/* A whole name is "/NNN/NNN/...", with the same number in all parts. */
			for (size_t at = 0; copy.name[at]; at += 4)
				torn += strncmp(copy.name + at, copy.name, 4) != 0;
		}
	}
	return (void *)torn;
}

Test(tally, an_even_version_is_a_whole_name)
{
	struct dlprof_tally *tallies = &thread_get()->slot->tallies[FOLDERS];
	pthread_t other;
	void *torn;

	cr_assert_eq(pthread_create(&other, NULL, reader, tallies), 0);
	for (int i = 0; i < 100000; i++) {
		char path[128] = "";

		for (int k = 0; k < 20; k++)
			snprintf(path + 4 * k, 6, "/%03d", i % 97);
		strcat(path, "/x");
		fd_remember(20, FD_NAMED, path);
		tally_file(thread_get(), 20, 1, 1, 1);
	}
	stop = true;
	pthread_join(other, &torn);
	cr_expect_eq((long)torn, 0, "%ld names were two names at once", (long)torn);
	for (int i = 0; i < DLPROF_TALLY_FOLDER_COUNT; i++)
		cr_expect_eq(tallies[i].version % 2, 0);
}

Test(tally, one_that_was_left_odd_becomes_whole)
{
	struct dlprof_tally *tally = &thread_get()->slot->tallies[FILES];

	visit(0, 0, 10);
	tally->version = 7;	/* odd: the writer died while it wrote */
	tally->kind = DLPROF_TALLY_NONE;
	tally->ns = 0;
	visit(1, 0, 10);
	cr_expect_str_eq(tally->name, "/data/0/1.jpg");
	cr_expect_eq(tally->version, 10, "%u: odd while it is written, and newer after",
		     tally->version);
}

Test(tally, spans_count_into_it)
{
	struct span span = {.fd = -1, .name = "test"};

	cr_assert(span_begin(&span, DLPROF_CLASS_DECODE));
	span.tally = step("Pillow", 256);
	usleep(2000);
	span_end(&span, 77, false);
	cr_expect_eq(step("Pillow", 256)->count, 1);
	cr_expect_eq(step("Pillow", 256)->bytes, 77);
	cr_expect_geq(step("Pillow", 256)->ns, 2000000);
	cr_expect_eq(step("Pillow", 256)->slowest_ns, step("Pillow", 256)->ns);
	span.uncounted = true;
	cr_assert(span_begin(&span, DLPROF_CLASS_DECODE));
	span.tally = step("Pillow", 256);
	span_end(&span, 0, false);
	cr_expect_eq(step("Pillow", 256)->count, 1, "time, but no operation of its own");
	cr_expect_eq(thread_get()->slot->counters[DLPROF_CLASS_DECODE].count, 1);
}

Test(tally, samples_of_a_dataset_with_a_long_name_are_found_again)
{
	const struct dlprof_tally *tallies = &thread_get()->slot->tallies[SAMPLES];
	char dataset[2 * DLPROF_TALLY_DETAIL_BYTES] = "";

	memset(dataset, 'D', sizeof(dataset) - 1);
	dataset[0] = 'A';
	for (int epoch = 1; epoch < 10; epoch++)
		tally_sample(thread_get(), dataset, 7, (uint64_t)(100 * epoch), NULL);
	cr_expect_eq(tallies[0].ns, 900);
	cr_expect_eq(tallies[1].kind, DLPROF_TALLY_NONE, "listed once an epoch");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a job is read as it was written, and not at all if it is damaged. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/ranks/rank.h"
#include "store/fleet/part.h"

#define RANKS 3
#define STEPS 50

static char folder[] = "/tmp/dlprof-part-XXXXXX";
static char path[64];
static struct part part;

static void add_rank(int rank)
{
	struct rank_epoch epoch = {.epoch = 2, .begin_ns = INT64_C(1000000000000000)};
	struct batch_series series;
	struct finding finding;

	series_init(&series);
	series.workers = 1;
	for (int step = 0; step < STEPS; step++) {
		struct batch_row row = BATCH_ROW_UNKNOWN;

		row.epoch = 2;
		row.batch = step;
		row.wait_ns = rank == 1 ? 50000000 : 1000;
		row.compute_ns = 100000000;
		row.load_ns = 40000000;
		row.head_ready = 0;
		cr_assert_eq(series_append(&series, &row), 0);
	}
	stall_judge(&series, &finding);
	cr_assert_eq(rank_add(&part.job, &series, &finding, &epoch, 1), 0);
	series_done(&series);
}

static void set_up(void)
{
	char name[40];

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/part", folder);
	part_init(&part);
	part.ranks = calloc(RANKS, sizeof(*part.ranks));
	for (int i = 0; i < RANKS; i++) {
		struct part_rank *rank = &part.ranks[i];

		add_rank(i);
		*rank = (struct part_rank){
			.rank = 4 + i,
			.batch_count = STEPS,
			.stall_ratio = 0.1 * i,
			.load_ns = NAN,
			.period_ns = part.job.members[i].period_ns,
			.step_wait_ns = part.job.members[i].wait_ns,
			.starved_ns = part.job.members[i].starved_ns,
			.place = part.job.members[i].place,
		};
		snprintf(name, sizeof(name), "/runs/rank%d.db", i);
		cr_assert_eq(part_add_text(&part, name, &rank->path), 0);
		cr_assert_eq(part_add_text(&part, i ? "node" : NULL, &rank->host), 0);
		cr_assert_eq(part_add_text(&part, NULL, &rank->gpu), 0);
		cr_assert_eq(part_add_text(&part, i == 2 ? "killed" : NULL, &rank->ended), 0);
	}
	cr_assert_eq(part_add_text(&part, "job 5", &part.words[PART_JOB]), 0);
	part.attempt = 2;
	part.world_size = 8;
	part.start_unix_ns = -1;
}

static void tear_down(void)
{
	char command[80];

	part_done(&part);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(part, .init = set_up, .fini = tear_down);

static void write_part(void)
{
	FILE *out = fopen(path, "w");

	cr_assert_eq(part_write(&part, out), 0);
	cr_assert_eq(fclose(out), 0);
}

Test(part, is_read_as_it_was_written)
{
	struct rank_blame blames[RANKS], read_blames[RANKS];
	struct rank_finding finding, read_finding;
	struct part read;

	write_part();
	cr_expect(part_is(path));
	cr_assert_eq(part_read(path, &read), 0);
	cr_assert_eq(part_read_windows(path, &read), 0);
	cr_expect_eq(read.job.rank_count, RANKS);
	cr_expect(read.attempt == 2 && read.world_size == 8 && read.start_unix_ns == -1);
	cr_expect_str_eq(part_word(&read, PART_JOB), "job 5");
	cr_expect_null(part_word(&read, PART_COMMAND));
	for (int i = 0; i < RANKS; i++) {
		const struct part_rank *rank = &read.ranks[i];

		cr_expect(rank->rank == 4 + i && rank->batch_count == STEPS);
		cr_expect(rank->stall_ratio == 0.1 * i && isnan(rank->load_ns));
		cr_expect_str_eq(part_text(&read, rank->path), part_text(&part, rank->path));
		cr_expect_eq(part_text(&read, rank->host) == NULL, i == 0);
		cr_expect_null(part_text(&read, rank->gpu));
		cr_expect_eq(read.job.members[i].period_ns, part.job.members[i].period_ns);
		cr_expect_eq(read.job.members[i].wait_ns, part.job.members[i].wait_ns);
		cr_expect_eq(read.job.members[i].starved_ns, part.job.members[i].starved_ns);
	}
	cr_expect_str_eq(part_text(&read, read.ranks[2].ended), "killed");
	cr_assert_eq(rank_judge(&part.job, blames, &finding), 0);
	cr_assert_eq(rank_judge(&read.job, read_blames, &read_finding), 0);
	cr_expect_eq(finding.culprit, read_finding.culprit);
	cr_expect_eq(finding.alignment, read_finding.alignment);
	cr_expect_eq(finding.stall_ratio, read_finding.stall_ratio);
	cr_expect_eq(blames[1].wait_ns, read_blames[1].wait_ns);
	part_done(&read);
}

/* Reads the file with its windows; returns what reading it says. */
static int read_whole(void)
{
	struct part read;
	int r;

	r = part_read(path, &read);
	if (r == 0) {
		r = part_read_windows(path, &read);
		part_done(&read);
	}
	return r;
}

/* Reads the file with one byte changed, or cut; returns what reading it says. */
static int read_damaged(const char *bytes, size_t size, size_t at, int change)
{
	FILE *out = fopen(path, "w");

	fwrite(bytes, 1, at, out);
	if (at < size && change) {
		fputc(bytes[at] ^ change, out);
		fwrite(bytes + at + 1, 1, size - at - 1, out);
	}
	fclose(out);
	return read_whole();
}

Test(part, no_flipped_bit_is_missed)
{
	struct stat status;
	size_t size;
	char *bytes;
	FILE *in;

	write_part();
	cr_assert_eq(stat(path, &status), 0);
	size = (size_t)status.st_size;
	bytes = malloc(size);
	in = fopen(path, "r");
	cr_assert_eq(fread(bytes, 1, size, in), size);
	fclose(in);
	cr_expect_eq(read_damaged(bytes, size, 0, 1), -EMEDIUMTYPE, "another kind of file");
	cr_expect_not(part_is(path));
	cr_expect_eq(read_damaged(bytes, size, 8, 1), -EPROTO, "another version");
	cr_expect(part_is(path));
	for (size_t at = 12; at < size; at += at < 500 ? 1 : 61) {
		int r = read_damaged(bytes, size, at, 1 << at % 8);

		cr_expect(r == -EBADMSG || r == -ENODATA, "%zu: %d", at, r);
		cr_expect(part_is(path));
	}
	for (size_t at = 0; at < size; at += at < 100 ? 1 : 97)
		cr_expect_eq(read_damaged(bytes, size, at, 0), at < 8 ? -EMEDIUMTYPE : -ENODATA,
			     "%zu", at);
	cr_expect_eq(read_damaged(bytes, size, size, 0), 0);
	in = fopen(path, "a");
	fputc(0, in);
	fclose(in);
	cr_expect(part_is(path));
	cr_expect_eq(part_read(path, &(struct part){0}), -EBADMSG, "there is more of it");
	free(bytes);
}

/* A stranger's file may have a right checksum and wrong content. */
static int read_changed(void)
{
	write_part();
	return read_whole();
}

Test(part, what_cannot_be_is_refused)
{
	struct part_rank *rank = &part.ranks[1];
	struct window *window;

	cr_assert_eq(read_changed(), 0);
#define REFUSED(place, value)                                                                      \
	do {                                                                                       \
		const __typeof__(place) kept = place;                                              \
		place = value;                                                                     \
		cr_expect_eq(read_changed(), -EBADMSG, #place);                                    \
		place = kept;                                                                      \
	} while (0)
	REFUSED(rank->rank, -1);
	REFUSED(rank->verdict, STALL_VERDICT_MAX);
	REFUSED(rank->cause, 100000);
	REFUSED(rank->by_gpu, 2);
	REFUSED(rank->live, 2);
	REFUSED(rank->is_terminated, 2);
	REFUSED(rank->path, PART_NONE);
	REFUSED(rank->path, (uint32_t)part.text_bytes);
	REFUSED(rank->host, (uint32_t)part.text_bytes);
	REFUSED(rank->gpu, (uint32_t)part.text_bytes);
	REFUSED(rank->ended, (uint32_t)part.text_bytes);
	REFUSED(part.words[PART_OWNER], (uint32_t)part.text_bytes);
	REFUSED(part.text[part.text_bytes - 1], 'x');
	REFUSED(part.job.members[1].group, (int32_t)part.job.group_count);
	REFUSED(part.job.groups[0].sums.rank_count, RANKS + 1);
	REFUSED(part.job.groups[0].sums.known_count, RANKS + 1);
	REFUSED(part.job.groups[0].sums.pace.shift, 32);
	REFUSED(part.job.groups[0].sums.pace.count, PACE_CELLS);
	REFUSED(part.job.groups[0].sums.pace.rest_ns, INFINITY);
	REFUSED(part.job.groups[0].sums.pace.cells[3], NAN);
	REFUSED(part.job.epochs[0].base, 1);
	REFUSED(part.job.epochs[0].epoch, (int64_t)1 << 40);
	REFUSED(part.job.epochs[0].length, (size_t)1 << 40);
	REFUSED(part.job.origin_ns, -1);
	REFUSED(part.job.bin_ns, -1);
	REFUSED(part.job.bin_ns, INT64_MAX >> 20);
	REFUSED(part.job.step_ns, 0);
	window = &part.job.groups[0].by_step.widths[1].list[2];
	REFUSED(window->rank, RANKS);
	REFUSED(window->rank, -1);
	REFUSED(window->wait_ns, -1);
	REFUSED(window->wait_ns, INFINITY);
	REFUSED(window->second_ns, -1);
	REFUSED(window->pace_ns, NAN);
	REFUSED(window->sum_ns, INFINITY);
	window = &part.job.by_clock.widths[0].list[1];
	REFUSED(window->rank, RANKS);
	cr_expect_eq(read_changed(), 0);
}

Test(part, other_kinds_of_files)
{
	struct part read;

	cr_expect_eq(part_read(path, &read), -ENOENT);
	cr_expect_eq(part_read(folder, &read), -EISDIR);
	cr_expect_eq(part_read("/dev/null", &read), -EMEDIUMTYPE);
	cr_expect_not(part_is(folder));
	cr_expect_not(part_is(path));
	/* The file is another one since its head was read. */
	write_part();
	cr_assert_eq(part_read(path, &read), 0);
	part.job.groups[0].by_step.widths[0].list[0].wait_ns += 1;
	write_part();
	cr_expect_eq(part_read_windows(path, &read), -EBADMSG);
	cr_assert_eq(unlink(path), 0);
	cr_expect_eq(part_read_windows(path, &read), -ENOENT);
	part_done(&read);
}

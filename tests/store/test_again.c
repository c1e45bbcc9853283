/* SPDX-License-Identifier: Apache-2.0 */
/* A finished run that a drain takes up again while it is read is read as it was, or as it is. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/database/db_open.h"
#include "store/run/query.h"
#include "store/write/write.h"

#define SMALL 10
#define LARGE 200 /* notes of 10 kB: more than is read at once */

static char folder[] = "/tmp/dlprof-again-XXXXXX";
static char path[64];
static bool is_armed;

/* 0, or why it could not be written. */
static int put(const char *text, int notes)
{
	char note[10000];
	struct writer *writer;
	struct db *db;
	int r = db_open_write(path, &db);

	if (r < 0)
		return r;
	memset(note, 'x', sizeof(note));
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(db_begin(db), 0);
	cr_assert_eq(writer_meta(writer, META_HOST, text), 0);
	for (int i = 0; i < notes; i++) {
		snprintf(note + sizeof(note) - 40, 40, "%s %d", text, i);
		cr_assert_eq(writer_note(writer, "warning", note), 0);
	}
	cr_assert_eq(db_commit(db), 0);
	writer_close(writer);
	db_close(db);
	return 0;
}

/* In the place of libc's: half is read when the drain comes. */
ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	size_t half = size / 2;

	if (!is_armed || size <= 65536)
		return syscall(SYS_pread64, fd, to, size, at);
	is_armed = false;
	cr_assert_eq(syscall(SYS_pread64, fd, to, half, at), (long)half);
	cr_assert_eq(put("second", 1), 0);
	return (ssize_t)half +
	       syscall(SYS_pread64, fd, (char *)to + half, size - half, at + (off_t)half);
}

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/run.db", folder);
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(again, .init = set_up, .fini = tear_down);

static void expect_host(struct db *db, const char *host)
{
	struct run_info run;

	cr_assert_eq(query_run(db, &run), 0);
	cr_expect_str_eq(run.host, host);
	run_info_done(&run);
}

static void expect_notes(struct db *db, size_t expected)
{
	size_t count = 0;
	char **notes;

	cr_assert_eq(query_notes(db, &notes, &count), 0);
	cr_expect_eq(count, expected, "%zu notes", count);
	while (count)
		free(notes[--count]);
	free(notes);
}

Test(again, what_is_open_stays_as_it_was)
{
	struct db *db;

	cr_assert_eq(put("first", SMALL), 0);
	cr_assert_eq(db_open_read(path, &db), 0);
	expect_host(db, "first");
	cr_assert_eq(put("second", 1), 0);
	expect_notes(db, SMALL);
	db_close(db);
	cr_assert_eq(db_open_read(path, &db), 0);
	expect_host(db, "second");
	expect_notes(db, SMALL + 1);
	db_close(db);
}

Test(again, a_drain_waits_for_what_is_not_read_at_once)
{
	struct db *db;

	cr_assert_eq(put("first", LARGE), 0);
	cr_assert_eq(db_open_read(path, &db), 0);
	expect_host(db, "first");
	cr_expect_eq(put("second", 1), -EBUSY);
	expect_notes(db, LARGE);
	db_close(db);
	cr_expect_eq(put("second", 1), 0);
}

Test(again, half_of_the_old_and_half_of_the_new_is_neither)
{
	struct db *db;

	cr_assert_eq(put("first", SMALL), 0);
	is_armed = true;
	cr_assert_eq(db_open_read(path, &db), 0);
	cr_assert(!is_armed, "nothing came between");
	expect_host(db, "second");
	expect_notes(db, SMALL + 1);
	db_close(db);
}

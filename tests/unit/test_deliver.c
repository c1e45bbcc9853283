/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a run arrives whole, and replaces no file but an older copy of the same run. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/database/deliver.h"
#include "drain/database/home.h"
#include "store/database/db_open.h"
#include "store/run/query.h"
#include "store/write/write.h"

static char folder[] = "/tmp/dlprof-deliver-XXXXXX";
static char from[64], target[64], name[DELIVER_PATH];

static const char *in_folder(const char *leaf)
{
	static char path[80];

	snprintf(path, sizeof(path), "%s/%s", folder, leaf);
	return path;
}

static void make_run(const char *path, const char *id)
{
	struct writer *writer;
	struct db *db;

	cr_assert_eq(db_open_write(path, &db), 0);
	cr_assert_eq(writer_open(db, &writer), 0);
	cr_assert_eq(writer_meta(writer, META_RUN_ID, id), 0);
	writer_close(writer);
	db_close(db);
}

static void put(const char *leaf, const char *text)
{
	FILE *file = fopen(in_folder(leaf), "w");

	cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void expect_text(const char *leaf, const char *text)
{
	char found[80] = "";
	FILE *file = fopen(in_folder(leaf), "r");

	cr_assert(file);
	cr_assert(fread(found, 1, sizeof(found) - 1, file) < sizeof(found));
	fclose(file);
	cr_expect_str_eq(found, text);
}

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(from, sizeof(from), "%s/local.db", folder);
	snprintf(target, sizeof(target), "%s/run.db", folder);
	make_run(from, "this");
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(deliver, .init = set_up, .fini = tear_down);

static int send(void)
{
	const struct parcel parcel = {.from = from, .target = target, .run_id = "this"};

	return deliver(&parcel, name);
}

/* Checks that `leaf` is a whole copy of the run, private to its owner, and needs no SQLite log. */
static void expect_at(const char *leaf)
{
	struct run_info run;
	struct stat status;
	struct db *db;

	cr_expect_str_eq(name, in_folder(leaf));
	cr_assert_eq(lstat(in_folder(leaf), &status), 0);
	cr_expect(S_ISREG(status.st_mode));
	cr_expect_eq(status.st_mode & 0777, 0600);
	cr_assert_eq(db_open_read(in_folder(leaf), &db), 0);
	cr_assert_eq(query_run(db, &run), 0);
	cr_expect_str_eq(run.id, "this");
	run_info_done(&run);
	db_close(db);
	cr_expect_neq(access(in_folder(".run.db.part"), F_OK), 0);
}

static void reserve(const char *leaf)
{
	int fd = open(in_folder(leaf), O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert(fd >= 0 && close(fd) == 0);
}

Test(deliver, takes_the_reserved_file_and_its_own_again)
{
	reserve("run.db");
	cr_assert_eq(send(), 0);
	expect_at("run.db");
	cr_assert_eq(send(), 0);
	expect_at("run.db");
}

Test(deliver, leaves_what_a_user_put_there)
{
	put("run.db", "precious");
	cr_assert_eq(send(), 0);
	expect_at("run-2.db");
	expect_text("run.db", "precious");
}

Test(deliver, leaves_another_run_and_a_file_that_one_reserved)
{
	make_run(target, "another");
	reserve("run-2.db");
	cr_assert_eq(send(), 0);
	expect_at("run-3.db");
}

Test(deliver, follows_no_link)
{
	put("victim", "precious");
	cr_assert_eq(symlink("victim", target), 0);
	cr_assert_eq(symlink("victim", in_folder(".run.db.part")), 0);
	cr_assert_eq(send(), 0);
	cr_expect_str_eq(name, in_folder("run-2.db"));
	expect_text("victim", "precious");
}

/* A delivery that was killed has left a file without its head, which the next delivery replaces. */
Test(deliver, completes_what_was_cut_short)
{
	static const char none[8192];
	int fd = open(target, O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert(fd >= 0 && write(fd, none, sizeof(none)) == sizeof(none) && close(fd) == 0);
	cr_assert_eq(send(), 0);
	expect_at("run.db");
}

Test(deliver, makes_the_name_again_that_somebody_removed)
{
	cr_assert_eq(send(), 0);
	expect_at("run.db");
}

/* Fails to write; returns whether the database is in the run's folder after that. */
static bool moves(bool is_open, int error)
{
	struct home home;
	struct db *db;

	unlink(target);
	put("user.db", "");
	home_init(&home, in_folder("user.db"), folder);
	if (is_open) {
		cr_assert_eq(home_open(&home, &db), 0);
		db_close(db);
	}
	home_failed(&home, error);
	return home.is_local;
}

Test(deliver, waits_for_a_database_that_was_open_and_is_locked)
{
	cr_expect(moves(false, -EBUSY), "one of another program");
	cr_expect_not(moves(true, -EBUSY));
	cr_expect(moves(true, -ENOSPC));
	cr_expect_not(moves(true, -ENOMEM));
}

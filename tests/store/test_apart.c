/* SPDX-License-Identifier: Apache-2.0 */
/* A database that was parted from its write-ahead log, or lies where no -shm can be made. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/database/db_open.h"
#include "store/run/query.h"
#include "store/write/write.h"

static char folder[] = "/tmp/dlprof-apart-XXXXXX";
static char path[64];
static struct db *writing;

static void command(const char *format, const char *argument)
{
	char line[200];

	snprintf(line, sizeof(line), format, folder, argument);
	cr_assert_eq(system(line), 0, "%s", line);
}

/* With rows that only the log has. */
static void set_up(void)
{
	struct writer *writer;

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/run.db", folder);
	cr_assert_eq(db_open_write(path, &writing), 0);
	cr_assert_eq(writer_open(writing, &writer), 0);
	cr_assert_eq(writer_meta(writer, META_HOST, "elsewhere"), 0);
	writer_close(writer);
	snprintf(path, sizeof(path), "%s/copy/run.db", folder);
}

static void tear_down(void)
{
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	db_close(writing);
	command("chmod -R u+w %s && rm -rf %1$s%s", "");
}

TestSuite(apart, .init = set_up, .fini = tear_down);

static int read_host(void)
{
	struct run_info run;
	struct db *db;
	int r = db_open_read(path, &db);

	if (r < 0)
		return r;
	r = query_run(db, &run);
	if (r == 0) {
		cr_expect(run.host && strcmp(run.host, "elsewhere") == 0);
		run_info_done(&run);
	}
	db_close(db);
	return r;
}

Test(apart, says_that_the_log_was_left_behind)
{
	command("cd %s && mkdir copy && cp run.db copy/%s", "");
	cr_expect_eq(read_host(), -ENOLINK);
	cr_expect(strstr(db_error(-ENOLINK), "-wal"));
}

/* From here on nothing can be made in that folder, which the run was copied to. */
static void lose_the_right_to_write(const char *copy)
{
	command("cd %s && chmod -R a+rX . && chmod -R a-w '%s'", copy);
	/* Root may write anywhere, and is trusted by everybody. */
	if (geteuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
}

Test(apart, reads_the_log_where_no_shm_can_be_made)
{
	command("cd %s && mkdir copy && cp run.db run.db-wal copy%s", "");
	lose_the_right_to_write("copy");
	cr_expect_eq(read_host(), 0);
	command("ls %s/copy | grep -c . | grep -qx 2%s", "");
}

Test(apart, leaves_no_copy_behind)
{
	char base[80];

	snprintf(base, sizeof(base), "%s/tmp", folder);
	cr_assert_eq(mkdir(base, 0700), 0);
	setenv("TMPDIR", base, 1);
	command("cd %s && mkdir copy && cp run.db run.db-wal copy && chmod 0777 tmp%s", "");
	lose_the_right_to_write("copy");
	cr_expect_eq(read_host(), 0);
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	cr_expect_eq(rmdir(base), 0, "something is in it");
}

Test(apart, names_may_hold_what_means_something_in_an_address)
{
	db_close(writing);
	writing = NULL;
	command("cd %s && mkdir 'co?p%%y' && cp run.db 'co?p%%y/r#un.db' && python3 -c \""
		"import sqlite3; sqlite3.connect('co?p%%y/r#un.db').execute("
		"'PRAGMA journal_mode=WAL')\"%s", "");
	lose_the_right_to_write("co?p%y");
	snprintf(path, sizeof(path), "%s/co?p%%y/r#un.db", folder);
	cr_expect_eq(read_host(), 0);
}

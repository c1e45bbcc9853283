/* SPDX-License-Identifier: Apache-2.0 */
/* Of the files in a folder of segments, only those that a recording process made are read. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dlprof/folder.h"
#include "drain/segments/trust.h"

static char folder[] = "/tmp/dlprof-foreign-XXXXXX";
static int dir;

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	cr_assert_eq(chmod(folder, DLPROF_FOLDER_MODE), 0);
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	cr_assert_geq(dir, 0);
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
	close(dir);
}

TestSuite(foreign, .init = set_up, .fini = tear_down);

Test(foreign, names_of_segments)
{
	cr_expect(trust_is_segment_name("12-345-6.seg"));
	cr_expect(trust_is_segment_name("12-345-6-7.seg"));
	cr_expect_not(trust_is_segment_name("12-345-6-.seg"));
	cr_expect_not(trust_is_segment_name("12-345-6-x.seg"));
	cr_expect_not(trust_is_segment_name("12-345.seg"));
	cr_expect_not(trust_is_segment_name("12-345-6"));
	cr_expect_not(trust_is_segment_name("12-345-6.new"));
	cr_expect_not(trust_is_segment_name("12-345-6.seg.gz"));
	cr_expect_not(trust_is_segment_name("x12-345-6.seg"));
}

Test(foreign, names_of_databases)
{
	cr_expect(trust_is_database_name("run.db"));
	cr_expect(trust_is_database_name("run.db-wal"));
	cr_expect(trust_is_database_name("run.db.part"));
	cr_expect_not(trust_is_database_name("run.dbx"));
	cr_expect_not(trust_is_database_name("run.d"));
	cr_expect_not(trust_is_database_name("another.db"));
}

static void make(const char *name, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(fchmod(fd, mode), 0);
	close(fd);
}

static int open_file(const char *name)
{
	int fd = trust_open_file(dir, name, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

Test(foreign, a_file_has_one_name_and_the_mode_that_we_give)
{
	make("1-2-3.seg", DLPROF_FILE_MODE);
	cr_expect_eq(open_file("1-2-3.seg"), 0);
	make("1-2-4.seg", DLPROF_FILE_MODE | 022);
	cr_expect_eq(open_file("1-2-4.seg"), -EPERM, "others may write it");
	cr_expect_eq(open_file("1-2-5.seg"), -ENOENT);
	cr_assert_eq(symlinkat("1-2-3.seg", dir, "1-2-6.seg"), 0);
	cr_expect_eq(open_file("1-2-6.seg"), -EPERM, "a link");
	/* A second name may be another user's link, unless it is the unfinished one. */
	cr_assert_eq(linkat(dir, "1-2-3.seg", dir, "another", 0), 0);
	cr_expect_eq(open_file("1-2-3.seg"), -EPERM);
	cr_assert_eq(unlinkat(dir, "another", 0), 0);
	cr_assert_eq(linkat(dir, "1-2-3.seg", dir, "1-2-3.new", 0), 0);
	cr_expect_eq(open_file("1-2-3.seg"), 0, "its process is about to remove it");
	cr_assert_eq(linkat(dir, "1-2-3.seg", dir, "another", 0), 0);
	cr_expect_eq(open_file("1-2-3.seg"), -EPERM, "a third one");
	cr_assert_eq(unlinkat(dir, "another", 0), 0);
	cr_assert_eq(unlinkat(dir, "1-2-3.new", 0), 0);
	make("1-2-3.new", DLPROF_FILE_MODE);
	cr_assert_eq(linkat(dir, "1-2-3.seg", dir, "another", 0), 0);
	cr_expect_eq(open_file("1-2-3.seg"), -EPERM, "the unfinished name is of another file");
}

Test(foreign, a_folder_is_ours_alone)
{
	int fd;

	cr_assert_eq(mkdirat(dir, "dlprof-1-2", DLPROF_FOLDER_MODE), 0);
	fd = trust_open_folder(dir, "dlprof-1-2");
	cr_expect_geq(fd, 0);
	close(fd);
	cr_assert_eq(fchmodat(dir, "dlprof-1-2", DLPROF_FOLDER_MODE | S_ISGID, 0), 0);
	fd = trust_open_folder(dir, "dlprof-1-2");
	cr_expect_geq(fd, 0, "folders inherit this bit");
	close(fd);
	cr_assert_eq(fchmodat(dir, "dlprof-1-2", 0777, 0), 0);
	cr_expect_eq(trust_open_folder(dir, "dlprof-1-2"), -EPERM);
	make("dlprof-1-3", DLPROF_FILE_MODE);
	cr_expect_eq(trust_open_folder(dir, "dlprof-1-3"), -EPERM);
	cr_expect_eq(trust_open_folder(dir, "dlprof-1-4"), -ENOENT);
	cr_assert_eq(mkdirat(dir, "another", DLPROF_FOLDER_MODE), 0);
	cr_expect_eq(trust_open_folder(dir, "another"), -EPERM);
}

Test(foreign, an_unfinished_file_has_no_content_yet)
{
	int fd;

	make("1-2-3.new", DLPROF_FILE_MODE);
	cr_expect(trust_is_unfinished(dir, "1-2-3.new"));
	cr_expect_not(trust_is_unfinished(dir, "1-2-4.new"));
	fd = openat(dir, "1-2-3.new", O_WRONLY);
	cr_assert_eq(write(fd, "12345678", 8), 8);
	close(fd);
	cr_expect_not(trust_is_unfinished(dir, "1-2-3.new"), "it is something else");
	make("1-2-3.seg", DLPROF_FILE_MODE);
	cr_expect_not(trust_is_unfinished(dir, "1-2-3.seg"));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which descriptors count as data: by path, by the kernel's word, and after copies. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record/fd.h"
#include "record/segment.h"
#include "record/thread.h"

static char folder[] = "/tmp/dlprof-fd-XXXXXX";

static void set_up(void)
{
	cr_assert(mkdtemp(folder));
	thread_life = 1;
	cr_assert_eq(segment_open(folder, 0, -1, -1), 0);
}

static void tear_down(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(fd, .init = set_up, .fini = tear_down);

Test(fd, paths)
{
	static const struct {
		const char *path;
		enum fd_kind kind;
	} rows[] = {
		{"/data/train/0.jpg", FD_NAMED},
		{"shard-00001.tar", FD_NAMED},
		{"", FD_NAMED},
		{"/dev/shm/imagenet/0.jpg", FD_NAMED},
		{"/home/u/model.py", FD_OTHER},
		{"/home/u/__pycache__/model.cpython-311.pyc", FD_OTHER},
		{"/opt/lib/libfoo.so", FD_OTHER},
		{"/opt/lib/libfoo.so.6", FD_OTHER},
		{"/v/lib/site-packages/dask-1.dist-info/entry_points.txt", FD_OTHER},
		{"/v/lib/site-packages/nltk/data/words.txt", FD_NAMED},
		{"/proc/meminfo", FD_OTHER},
		{"/sys/devices/x", FD_OTHER},
		{"/dev/urandom", FD_OTHER},
		{"/dev/shm/torch_123", FD_OTHER},
		{"/dev/shm/sem.x", FD_OTHER},
		{"/etc/passwd", FD_OTHER},
		{"/tmp/x (deleted)", FD_OTHER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(fd_kind_of_path(rows[i].path), rows[i].kind, "%s", rows[i].path);
}

static int make_file(const char *name)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_geq(fd, 0);
	return fd;
}

Test(fd, asks_the_kernel_about_what_it_did_not_see_opened)
{
	int ends[2], sockets[2], data = make_file("a.jpg"), code = make_file("a.py");
	int memory = memfd_create("x", 0), directory = open(folder, O_RDONLY);

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	cr_expect_eq(fd_kind(data), FD_DATA);
	cr_expect_eq(fd_kind(code), FD_OTHER);
	cr_expect_eq(fd_kind(ends[0]), FD_PIPE);
	cr_expect_eq(fd_kind(sockets[0]), FD_SOCKET);
	cr_expect_eq(fd_kind(memory), FD_OTHER);
	cr_expect_eq(fd_kind(directory), FD_OTHER);
	cr_expect_eq(fd_kind(-1), FD_OTHER);
	cr_expect_eq(fd_kind(777), FD_OTHER);
	cr_expect_eq(fd_known(777), FD_UNKNOWN);
}

Test(fd, a_name_that_is_no_file_is_no_data)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	fd_remember(ends[0], FD_NAMED, NULL);	/* a pipe, though opened by a name as of data */
	cr_expect_eq(fd_kind(ends[0]), FD_PIPE);
}

Test(fd, forgets)
{
	fd_remember(5, FD_OTHER, NULL);
	fd_remember(4095, FD_OTHER, NULL);
	fd_remember(4096, FD_OTHER, NULL);
	fd_remember(9000, FD_OTHER, NULL);
	cr_expect(fd_forget(5));
	cr_expect_eq(fd_known(5), FD_UNKNOWN);
	fd_forget_range(4096, ~0U);
	cr_expect_eq(fd_known(4095), FD_OTHER);
	cr_expect_eq(fd_known(4096), FD_UNKNOWN);
	cr_expect_eq(fd_known(9000), FD_UNKNOWN);
	fd_forget_range(0, 4095);
	cr_expect_eq(fd_known(4095), FD_UNKNOWN);
}

Test(fd, numbers_beyond_the_table_are_asked_for_every_time)
{
	struct rlimit limit = {1 << 21, 1 << 21};
	int data = make_file("a.jpg"), far;

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0) {
		tear_down();	/* a skipped test does not run this otherwise */
		cr_skip("cannot raise RLIMIT_NOFILE");
	}
	far = fcntl(data, F_DUPFD, (1 << 20) + 5);
	cr_assert_geq(far, 1 << 20);
	fd_remember(far, FD_OTHER, NULL);
	cr_expect_eq(fd_kind(far), FD_DATA);
}

Test(fd, copies_mean_the_same)
{
	int data = make_file("a.jpg"), code = make_file("b.py");
	char path[FD_PATH_BYTES];
	uint32_t version;

	fd_remember(data, FD_NAMED, "a.jpg");
	fd_copy(data, 100);
	cr_expect_eq(fd_known(100), FD_NAMED);	/* not FD_DATA: the kernel will be asked again */
	fd_path(100, path);
	cr_expect_str_eq(path, "a.jpg");
	version = fd_path_version(100);
	fd_remember(code, FD_OTHER, NULL);
	fd_copy(code, 100);
	cr_expect_eq(fd_known(100), FD_OTHER);
	fd_copy(777, 100);			/* 777 is not in the table */
	cr_expect_eq(fd_known(100), FD_UNKNOWN);
	fd_copy(data, 100);
	cr_expect_neq(fd_path_version(100), version);
	fd_copy(data, -1);
	segment_first()->header.pid++;		/* as a vfork child sees it */
	fd_copy(data, 101);
	cr_expect_eq(fd_known(101), FD_UNKNOWN);
	fd_copy(code, 100);
	cr_expect_eq(fd_known(100), FD_NAMED);
}

Test(fd, another_processs_memory_is_left_alone)
{
	fd_remember(5, FD_DATA, NULL);
	segment_first()->header.pid++;		/* as a vfork child sees it */
	fd_remember(5, FD_OTHER, NULL);
	cr_expect_not(fd_forget(5));
	cr_expect_eq(fd_known(5), FD_DATA);
	fd_forget_range(0, 10);
	cr_expect_eq(fd_known(5), FD_DATA);
}

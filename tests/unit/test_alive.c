/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_alive.c - a process counts as dead only if its own traces show it, and a process that cannot
 * be told from another one is asked nothing.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain/segments/alive.h"
#include "drain/segments/segment.h"

#define FOREIGN_SPACE 1

static struct dlprof_header header;
static struct alive alive;
static int fd = -1;
static pid_t child;

/* Starts a child that does nothing, and makes the header that its segment would have. */
static void set_up(void)
{
	char path[] = "/tmp/test-of-dlprof-XXXXXX";
	struct stat status;

	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	fd = mkstemp(path);
	cr_assert(child > 0 && fd >= 0 && unlink(path) == 0);
	cr_assert_eq(stat("/proc/self/ns/pid", &status), 0);
	header = (struct dlprof_header){
		.pid = child,
		.proc_pid = child,
		.pid_space = status.st_ino,
		.start_ticks = alive_start_ticks(child),
	};
	gethostname(header.host, sizeof(header.host) - 1);
}

static void end_child(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
}

static void tear_down(void)
{
	alive_end(&alive);
	end_child();
	close(fd);
}

TestSuite(alive, .init = set_up, .fini = tear_down);

Test(alive, one_of_ours_lives_until_it_ends)
{
	alive_begin(&alive, &header, fd);
	cr_expect(alive_now(&alive, false));
	cr_expect_eq(alive_number(&alive), child);
	header.ended_ns = 1;	/* the process is still writing its last records */
	cr_expect(alive_now(&alive, true));
	end_child();
	cr_expect(!alive_now(&alive, false));
	cr_expect_eq(alive_number(&alive), 0);
}

Test(alive, another_one_with_its_number_is_not_it)
{
	header.start_ticks++;
	alive_begin(&alive, &header, fd);
	cr_expect(!alive_now(&alive, false));
	cr_expect_eq(alive_number(&alive), 0);
	cr_expect(alive_has_thread(&alive, (uint32_t)child));
}

Test(alive, one_that_ended_before_is_dead)
{
	end_child();
	alive_begin(&alive, &header, fd);
	cr_expect(!alive_now(&alive, false));
}

Test(alive, a_number_of_another_namespace_says_nothing)
{
	header.pid_space = FOREIGN_SPACE;
	end_child();
	alive_begin(&alive, &header, fd);
	cr_expect(alive_now(&alive, false));
	cr_expect_eq(alive_number(&alive), 0);
	cr_expect(alive_has_thread(&alive, 1));
	cr_expect(!alive_now(&alive, true), "a child outlives its run");
	header.flags = DLPROF_SEGMENT_ROOT;
	cr_expect(alive_now(&alive, true));
	header.ended_ns = 1;
	cr_expect(!alive_now(&alive, false));
}

Test(alive, nor_does_one_of_another_machine)
{
	header.host[0]++;
	end_child();
	alive_begin(&alive, &header, fd);
	cr_expect(alive_now(&alive, false));
}

Test(alive, nor_does_one_that_no_proc_has_shown)
{
	header.pid_space = header.start_ticks = 0;
	header.proc_pid = 0;
	alive_begin(&alive, &header, fd);
	cr_expect(alive_now(&alive, false));
	cr_expect_eq(alive_number(&alive), 0);
}

/* Opens the file once more and locks it; returns the descriptor. */
static int lock_file(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	char path[40];
	int other;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_RDWR);
	cr_assert_geq(other, 0);
	cr_assert_eq(fcntl(other, F_OFD_SETLK, &lock), 0);
	return other;
}

/* A program that reads a process's memory at its end keeps its mappings, and so its lock. */
Test(alive, one_that_is_gone_is_dead_though_its_lock_is_held)
{
	int other = lock_file();

	header.flags = DLPROF_SEGMENT_LOCKED;
	end_child();
	alive_begin(&alive, &header, fd);
	cr_expect(!alive_now(&alive, false));
	close(other);
}

Test(alive, a_lock_decides_where_numbers_say_nothing)
{
	int other = lock_file();

	header.pid_space = FOREIGN_SPACE;
	header.flags = DLPROF_SEGMENT_LOCKED;
	header.ended_ns = 1;
	alive_begin(&alive, &header, fd);
	cr_expect(alive_now(&alive, true));
	close(other);
	cr_expect(!alive_now(&alive, false));
}

static void *end_at_once(void *ret_tid)
{
	*(pid_t *)ret_tid = gettid();
	return NULL;
}

Test(alive, a_thread_has_ended_only_if_its_process_says_so)
{
	pthread_t thread;
	pid_t tid = 0;

	header.pid = header.proc_pid = getpid();
	header.start_ticks = alive_start_ticks(getpid());
	alive_begin(&alive, &header, fd);
	cr_expect(alive_has_thread(&alive, (uint32_t)gettid()));
	cr_assert_eq(pthread_create(&thread, NULL, end_at_once, &tid), 0);
	pthread_join(thread, NULL);
	for (int i = 0; i < 1000 && alive_has_thread(&alive, (uint32_t)tid); i++)
		usleep(1000);
	cr_expect(!alive_has_thread(&alive, (uint32_t)tid));
}

Test(alive, how_one_ended_is_known_until_its_parent_asks)
{
	siginfo_t info;
	int status;

	alive_begin(&alive, &header, fd);
	cr_expect_eq(alive_exit_status(&alive), -1, "it lives");
	kill(child, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(alive_exit_status(&alive), SIGKILL);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	child = 0;
	/* From Linux 6.15 on the status can be read even after waitpid(). */
	status = alive_exit_status(&alive);
	cr_expect(status == SIGKILL || status == -1, "%d", status);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests limits of made-up control groups for CPUs and memory, and what the kernel says of this
 * test's process.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drain/base/process.h"
#include "drain/machine/cgroup.h"
#include "drain/machine/cpus.h"
#include "drain/machine/neighbours.h"

#define PID 77
#define V2  "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

static char root[64];

static void put(const char *path, const char *text)
{
	char whole[512], *slash;
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (slash = whole + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		mkdir(whole, 0755);
	}
	file = fopen(whole, "w");
	cr_assert_not_null(file, "%s", whole);
	fputs(text, file);
	fclose(file);
}

static void make(const char *mounts, const char *groups)
{
	strcpy(root, "/tmp/test-of-dlprof-XXXXXX");
	cr_assert_not_null(mkdtemp(root));
	put("/proc/self/mountinfo", mounts);
	put("/proc/77/cgroup", groups);
}

static void tidy(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

static int64_t limit(void)
{
	int64_t milli = cpus_limit_milli(root, PID);

	tidy();
	return milli;
}

static void check_free(double mb)
{
	double bytes = cgroup_free_bytes(root, PID);

	tidy();
	cr_assert(mb < 0 ? isnan(bytes) : fabs(bytes - mb * 1e6) < 1, "%f", bytes);
}

Test(cpus, version_2_of_a_container_with_its_own_namespace)
{
	make(V2, "0::/\n");
	put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
	cr_assert_eq(limit(), 1500);
}

Test(cpus, the_lowest_limit_of_all_levels)
{
	make(V2, "0::/pods/one/train\n");
	put("/sys/fs/cgroup/pods/cpu.max", "400000 100000\n");
	put("/sys/fs/cgroup/pods/one/cpu.max", "25000 10000\n");
	put("/sys/fs/cgroup/pods/one/train/cpu.max", "max 100000\n");
	cr_assert_eq(limit(), 2500);
}

Test(cpus, version_2_without_a_limit)
{
	make(V2, "0::/user.slice\n");
	put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
	cr_assert_eq(limit(), -1);
}

/* Docker without cgroup namespaces: the mount begins at the container's group. */
Test(cpus, version_1_of_a_container_that_sees_the_host_paths)
{
	make("36 31 0:30 /docker/12ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup "
	     "rw,cpu,cpuacct\n"
	     "37 31 0:31 /docker/12ab /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n",
	     "5:cpuset:/docker/12ab\n4:cpu,cpuacct:/docker/12ab\n0::/\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "75000\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "1000\n");
	cr_assert_eq(limit(), 750);
}

Test(cpus, version_1_without_a_limit)
{
	make("32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "1:cpu:/job\n0::/\n");
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
	cr_assert_eq(limit(), -1);
}

/* With both versions of cgroup at once only one has the controller's files. */
Test(cpus, both_versions)
{
	make("32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	     "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
	     "1:cpu:/\n0::/\n");
	put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
	put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	cr_assert_eq(limit(), 3000);
}

/* The scheduler divides cores between control groups or, without any, between sessions. */
Test(cpus, the_group_that_gets_a_share_of_the_cores)
{
	struct cpus_group group;

	make("32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "1:cpu:/job\n0::/\n");
	cpus_group(root, PID, &group);
	tidy();
	cr_expect_str_eq(group.name, "/job");
	/* Only the upper level has a weight. */
	make(V2, "0::/pods/one\n");
	put("/sys/fs/cgroup/pods/cpu.weight", "100\n");
	cpus_group(root, PID, &group);
	tidy();
	cr_expect_str_eq(group.name, "/pods");
	make(V2, "0::/\n");
	put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
	put("/proc/77/autogroup", "/autogroup-29926 nice 5\n");
	cpus_group(root, PID, &group);
	tidy();
	cr_expect_str_eq(group.name, "autogroup-29926");
	cr_expect_eq(group.nice, 5);
}

Test(cpus, damaged_files_are_no_limit)
{
	make(V2 "- - -\n\n- cgroup2\n", "nothing\n:\n0:\n0::/x\n");
	put("/sys/fs/cgroup/x/cpu.max", "lots\n");
	put("/sys/fs/cgroup/cpu.max", "5 0\n");
	cr_assert_eq(limit(), -1);
	make("", "");
	cr_assert_eq(limit(), -1);
	strcpy(root, "/nonexistent");
	cr_assert_eq(cpus_limit_milli(root, PID), -1);
}

#define FREE_8_GB "MemTotal: 16000000 kB\nMemFree: 1000 kB\nMemAvailable: 7812500 kB\n"

/* A job of Slurm has its limit in a group above that of its step. */
Test(cpus, memory_by_all_levels_of_version_2)
{
	make(V2, "0::/slurm/job_7/step_0\n");
	put("/proc/meminfo", FREE_8_GB);
	put("/sys/fs/cgroup/slurm/job_7/memory.max", "3000000000\n");
	put("/sys/fs/cgroup/slurm/job_7/memory.current", "2900000000\n");
	put("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
	put("/sys/fs/cgroup/slurm/job_7/step_0/memory.current", "2000000000\n");
	check_free(100);
}

/* Files that were read fill the limit of a group, but the kernel drops them first. */
Test(cpus, memory_without_cached_files)
{
	make(V2, "0::/\n");
	put("/proc/meminfo", FREE_8_GB);
	put("/sys/fs/cgroup/memory.max", "3000000000\n");
	put("/sys/fs/cgroup/memory.current", "2900000000\n");
	put("/sys/fs/cgroup/memory.stat", "anon 500000000\nfile 2400000000\nshmem 300000000\n"
					  "inactive_file 1500000000\nactive_file 600000000\n");
	check_free(2200);
}

Test(cpus, memory_of_version_1)
{
	make("35 31 0:32 /docker/12ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
	     "4:memory:/docker/12ab\n");
	put("/proc/meminfo", FREE_8_GB);
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1000000000\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "700000000\n");
	put("/sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 90000000\n"
						 "total_active_file 10000000\n");
	check_free(400);
}

Test(cpus, memory_of_the_machine)
{
	make(V2, "0::/user.slice\n");
	put("/proc/meminfo", FREE_8_GB);
	put("/sys/fs/cgroup/user.slice/memory.max", "max\n");
	put("/sys/fs/cgroup/user.slice/memory.current", "1000\n");
	check_free(8000);
	make("", "");
	check_free(-1);
}

static uint64_t own_start(void)
{
	char line[1024] = "";
	unsigned long long ticks = 0;
	FILE *file = fopen("/proc/self/stat", "r");
	char *at;
	int field;

	cr_assert_not_null(file);
	cr_assert_not_null(fgets(line, sizeof(line), file));
	fclose(file);
	at = strrchr(line, ')');
	for (field = 2; field < 22; field++)
		at = strchr(at + 1, ' ');
	sscanf(at, "%llu", &ticks);
	return ticks;
}

static int64_t busy(const char *stat)
{
	char command[100];
	int64_t ns;

	make(V2, "0::/\n");
	put("/proc/stat", stat);
	ns = cpus_busy_ns(root, getpid());
	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
	return ns;
}

/* Idle time and waits for a disk are free time; user time includes that of guests. */
Test(cpus, busy_for_whomever)
{
	int64_t tick = INT64_C(1000000000) / sysconf(_SC_CLK_TCK);
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	cr_assert_eq(busy("cpu  9 9 9 9 9 9 9 9 9 9\n"
			  "cpu0 1 20 300 4000 50000 600000 7000000 80000000 5 5\n"
			  "cpu1 7 7 7 7 7 7 7 7 7 7\nintr 5 5 5 5 5 5 5 5 5\n"),
		     87600321 * tick);
	cr_assert_eq(busy("cpu  9 9 9 9 9 9 9 9 9 9\ncpu1 7 7 7 7 7 7 7 7 7 7\n"), -1,
		     "ours is not listed");
	cr_assert_eq(busy("cpu0 one 2 3\n"), -1);
	cr_assert_eq(cpus_busy_ns("/no/such/root", getpid()), -1);
	cr_assert_eq(cpus_busy_ns("", -1), -1);
	cr_assert_gt(cpus_busy_ns("", getpid()), 0);
}

Test(cpus, of_this_process)
{
	uint64_t start = own_start();
	struct timespec used;
	cpu_set_t one;
	int64_t ns;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (used.tv_sec == 0 && used.tv_nsec < 200000000);
	ns = cpus_used_ns(getpid(), start);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	/* The kernel's times may lack some ticks. */
	cr_assert_geq(ns, 170000000);
	cr_assert_leq(ns, (int64_t)used.tv_sec * 1000000000 + used.tv_nsec + 20000000);
	cr_assert_eq(cpus_used_ns(getpid(), start + 1), -1, "another process had this pid");
	cr_assert_eq(cpus_used_ns(-1, start), -1);

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	cr_assert_eq(cpus_affinity(getpid()), 1);
}

/* Computes until this process has used `until_ns` of CPU time; returns what it has used. */
static int64_t spin(int64_t until_ns)
{
	struct timespec used;
	int64_t ns;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		ns = (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
	} while (ns < until_ns);
	return ns;
}

Test(cpus, children_count_when_they_were_waited_for)
{
	struct process_stat stat;
	siginfo_t info;
	pid_t child = fork();

	if (!child) {
		spin(60000000);
		_exit(0);
	}
	cr_assert(process_stat_read(child, &stat));
	cr_assert_eq(stat.parent, getpid());
	cr_expect(stat.has_memory);
	cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	cr_assert(process_stat_read(child, &stat));
	cr_expect(stat.is_over && !stat.has_memory);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert(process_stat_read(getpid(), &stat));
	cr_assert_geq(stat.children_ns, 40000000);
	cr_assert_leq(stat.children_ns, 200000000);
}

/* CPU time of a few milliseconds between two readings is seen, as of a training that sleeps. */
Test(cpus, less_than_a_tick_is_seen)
{
	struct process_stat stat;
	int64_t before_ns, after_ns, at_ns = spin(0);

	cr_assert(process_stat_read(getpid(), &stat));
	before_ns = process_used_ns(getpid(), &stat);
	spin(at_ns + 3000000);
	cr_assert(process_stat_read(getpid(), &stat));
	after_ns = process_used_ns(getpid(), &stat);
	cr_assert_geq(after_ns - before_ns, 2000000);
	cr_assert_leq(after_ns - before_ns, spin(0) - at_ns);
	cr_assert_geq(before_ns, at_ns);
	/* Times of process 1, or none, instead of this process's. */
	cr_assert_leq(process_used_ns(1, &stat), stat.used_ns + 20000000);
	cr_assert_geq(process_used_ns(1, &stat), stat.used_ns);
	cr_assert_eq(process_used_ns(5000000, &stat), stat.used_ns, "no such process");
}

#define SECOND INT64_C(1000000000)

/* Until it is known, others may have used one core for a second before each look. */
Test(cpus, others_may_have_used_a_core_before_the_first_look)
{
	struct cores cores = {0};

	cr_assert_eq(cores_update(&cores, NULL, NULL, 0, 0, 10 * SECOND), 0);
	cr_expect_eq(cores.most_ns, SECOND);
	cr_assert_eq(cores_update(&cores, NULL, NULL, 0, 0, 10 * SECOND + 1), 0);
	cr_expect_eq(cores.looked_ns, 10 * SECOND, "the pause is not over");
	cr_assert_eq(cores_update(&cores, NULL, NULL, 0, 0, 12 * SECOND), 0);
	cr_expect_eq(cores.looked_ns, 12 * SECOND);
	cr_expect_eq(cores.most_ns, 2 * SECOND);
	cr_expect_eq(cores.of_ns, 0);
}

/* Two processes may have one pid in different PID namespaces. Neither is left out. */
Test(cpus, a_process_counts_beside_another_one_of_its_pid)
{
	static struct segment segments[2];
	struct segment *const list[] = {&segments[0], &segments[1]};
	struct dlprof_header headers[2] = {0};
	struct cores one = {0}, both = {0};

	for (int i = 0; i < 2; i++) {
		headers[i].pid = getpid();
		headers[i].created_ns = 1 + i;
		segments[i].header = &headers[i];
		segments[i].alive.proc_pid = getpid();
	}
	headers[0].flags = DLPROF_SEGMENT_ROOT;
	headers[0].start_ticks = alive_start_ticks(getpid());
	segments[0].alive.is_found = true;
	cr_assert_eq(cores_update(&one, NULL, list, 1, 0, 10 * SECOND), 0);
	cr_expect_eq(one.is_known, cpus_busy_ns("", getpid()) >= 0);
	cr_assert_eq(cores_update(&both, NULL, list, 2, 0, 10 * SECOND), 0);
	cr_expect_not(both.is_known, "the CPU time of the second one cannot be read");
}

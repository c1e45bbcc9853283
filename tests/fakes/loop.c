/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - a training loop on the fakes that prints what it did and when, as lines of JSON.
 *
 * usage: loop KEY=VALUE,... (keys: work.c). marks=1: marks where batches begin and end (dlprof.h).
 * end=N: how the program ends: 0 return, 1 _exit, 2 abort, 3 SIGTERM, 4 SIGKILL.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlprof.h>

#include "common.h"
#include "work.h"

static void *kineto;

static void profiler(const char *what)
{
	void (*call)(void);
	uint64_t begin;

	if (!kineto)
		kineto = dlopen("libkineto.so", RTLD_NOW | RTLD_LOCAL);
	call = kineto ? (void (*)(void))dlsym(kineto, what) : NULL;
	if (!call) {
		fprintf(stderr, "loop: %s\n", dlerror());
		exit(4);
	}
	begin = now_ns();
	call();
	printf("{\"profiler\": \"%s\", \"begin\": %llu, \"end\": %llu}\n", what,
	       (unsigned long long)begin, (unsigned long long)now_ns());
	fflush(stdout);
}

/*
 * Begins and ends sessions of the profiler, which come every kineto_period steps. kineto_warmup:
 * steps of warm-up before each session. kineto_sync: waits for the GPU before a session ends.
 */
static void profile(long step)
{
	const long from = work_value("kineto_from"), to = work_value("kineto_to");

	for (long k = 0; from >= 0 && k < work_value("kineto_count"); k++) {
		const long at = step - k * work_value("kineto_period");

		if (at == to && work_value("kineto_sync"))
			work_close();
		if (at == to)
			profiler("kineto_stop");
		if (work_value("kineto_warmup") && at == from - work_value("kineto_warmup"))
			profiler("kineto_prepare");
		if (at == from)
			profiler("kineto_start");
	}
}

/* Forks while CUDA is in use, and prints how long it takes the child to end. */
static void beget(void)
{
	const uint64_t begin = now_ns();
	pid_t child = fork();
	int status;

	if (!child) {
		if (work_value("exec"))
			execl("/bin/true", "true", NULL);
		exit(0);
	}
	waitpid(child, &status, 0);
	printf("{\"child_ms\": %llu, \"status\": %d}\n",
	       (unsigned long long)((now_ns() - begin) / NS_PER_MS), status);
	fflush(stdout);
}

/* Waits for a batch, as a loop without a known loader does. load_reads: also marks a load. */
static void fetch(long step)
{
	const long random = work_value("random_wait");
	const uint64_t us = (uint64_t)(work_value("wait") + (random ? step * 7919 % random : 0));

	if (work_value("load_reads")) {
		char byte[4096];
		int fd;

		dlprof_load_begin(step);
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		for (long i = 0; fd >= 0 && i < work_value("load_reads"); i++)
			if (read(fd, byte, sizeof(byte)) < 0)
				break;
		if (fd >= 0)
			close(fd);
		dlprof_load_end(step);
	}
	sleep_until(now_ns() + us * NS_PER_US);
}

static void *idle(void *unused)
{
	for (;;)
		pause();
	return NULL;
}

static void end(long how)
{
	static const int signals[] = {0, 0, SIGABRT, SIGTERM, SIGKILL};

	fflush(stdout);
	if (how == 1)
		_exit(0);
	if (how == 2)
		abort();
	if (how > 2)
		raise(signals[how]);
}

int main(int argc, char **argv)
{
	const char *plan = argc > 1 ? argv[1] : "";
	bool marks, print;
	long steps;

	work_open(plan);
	marks = work_value("marks");
	print = work_value("print");
	steps = work_value("steps");
	for (long i = 0; i < work_value("idle_threads"); i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, idle, NULL);
	}
	for (long step = 0; step < steps; step++) {
		uint64_t begin, fetched;

		profile(step);
		if (step == work_value("flush_at"))
			profiler("kineto_flush");
		if (step == work_value("fork_at"))
			beget();
		if (work_value("eval_every") && step && step % work_value("eval_every") == 0)
			work_evaluate();
		begin = now_ns();
		if (marks)
			dlprof_batch_begin();
		fetch(step);
		if (marks)
			dlprof_batch_end(step);
		fetched = now_ns();
		work_step(step);
		if (work_value("think"))
			sleep_until(now_ns() + (uint64_t)work_value("think") * NS_PER_US);
		if (print)
			printf("{\"step\": %ld, \"begin\": %llu, \"fetched\": %llu, \"end\": %llu, "
			       "\"kernels\": %ld, \"kernel_ns\": %llu, \"h2d_bytes\": %llu}\n",
			       step, (unsigned long long)begin, (unsigned long long)fetched,
			       (unsigned long long)now_ns(), work_kernel_count(step),
			       (unsigned long long)work_kernel_ns(step),
			       (unsigned long long)work_h2d_bytes());
	}
	if (marks)
		dlprof_batch_begin();
	if (marks)
		dlprof_batch_end(DLPROF_END);
	if (work_value("quiet_ms"))
		sleep_until(now_ns() + (uint64_t)work_value("quiet_ms") * NS_PER_MS);
	if (!work_value("end"))
		work_close();
	end(work_value("end"));
	return 0;
}

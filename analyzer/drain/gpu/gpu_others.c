/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/gpu/gpu_others.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drain/base/now.h"
#include "drain/base/process.h"
#include "drain/gpu/nvml.h"

#define FIRST_NS   UINT64_C(2000000000)
#define COST_PART  8000 /* the children may use 1/8000 of a core */
#define LEAST      5    /* a program whose kernels ran in less than 5 % of a sample is ignored */
#define USERS_MOST 256

struct gpu_others_told {
	size_t count;
	struct nvml_user users[USERS_MOST];
	bool is_own[USERS_MOST]; /* users[i] is a process of the run; found out while it lives */
};

static bool is_own(struct segment *const *segments, size_t count, unsigned int pid)
{
	for (size_t i = 0; i < count; i++)
		if (segments[i]->alive.is_found && segments[i]->alive.proc_pid == (int32_t)pid)
			return true;
	return false;
}

/* Asks NVML, in the child. Closes the drain's files first, since NVML may never return. */
__attribute__((noreturn)) static void ask(const struct gpu_others *others,
					struct segment *const *segments, size_t count)
{
	struct gpu_others_told *told = others->told;

	process_close_from(STDERR_FILENO + 1);
	told->count = nvml_users(told->users, USERS_MOST, others->since_us);
	for (size_t i = 0; i < told->count; i++)
		told->is_own[i] = is_own(segments, count, told->users[i].pid);
	_exit(0);
}

static void start(struct gpu_others *others, struct segment *const *segments, size_t count)
{
	if (!others->told) {
		others->told = mmap(NULL, sizeof(*others->told), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (others->told == MAP_FAILED)
			others->told = NULL;
	}
	if (!others->told)
		return;
	others->told->count = 0;
	others->child = fork();
	if (others->child == 0)
		ask(others, segments, count);
	if (others->child < 0)
		others->child = 0;
}

/* Writes which process outside of the run used one of the run's GPUs most. */
static int write_most(struct gpu_others *others, struct writer *writer)
{
	const struct nvml_user *users = others->told->users, *most = NULL;
	struct process_stat stat;
	uint64_t run_gpus = 0;
	char text[160];

	for (size_t i = 0; i < others->told->count; i++)
		if (users[i].gpu < 64 && users[i].percent && others->told->is_own[i])
			run_gpus |= UINT64_C(1) << users[i].gpu;
	for (size_t i = 0; i < others->told->count; i++)
		if (users[i].gpu < 64 && run_gpus >> users[i].gpu & 1 &&
		    users[i].percent >= (most ? most->percent + 1 : LEAST) &&
		    !others->told->is_own[i])
			most = &users[i];
	if (!most || most->percent <= others->percent)
		return 0;
	others->percent = most->percent;
	if (!process_stat_read((int32_t)most->pid, &stat))
		snprintf(stat.name, sizeof(stat.name), "a program");
	snprintf(text, sizeof(text), "%s (pid %u), up to %u %% of GPU %u", stat.name, most->pid,
		 most->percent, most->gpu);
	return writer_meta(writer, META_GPU_SHARED, text);
}

static bool has_gpu(struct segment *const *segments, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (segments[i]->joined.has_gpu && segments[i]->joined.batch_ns &&
		    !segments[i]->dead)
			return true;
	return false;
}

/* Writes the result if the child has ended. */
static int take(struct gpu_others *others, struct writer *writer, uint64_t now_ns)
{
	struct rusage use = {0};
	uint64_t cost_ns;
	int status = 0;

	if (wait4(others->child, &status, WNOHANG, &use) == 0)
		return 0;
	others->child = 0;
	cost_ns = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * (uint64_t)NS_PER_S +
		  (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1000;
	others->next_ns = now_ns + within(now_ns - others->begun_ns, UINT64_MAX,
					  cost_ns * COST_PART);
	return WIFEXITED(status) ? write_most(others, writer) : 0;
}

int gpu_others_update(struct gpu_others *others, struct writer *writer,
		      struct segment *const *segments, size_t count, uint64_t now_ns)
{
	struct timespec time;

	if (others->child)
		return take(others, writer, now_ns);
	if (now_ns < others->next_ns || !has_gpu(segments, count))
		return 0;
	if (!others->begun_ns) {
		clock_gettime(CLOCK_REALTIME, &time);
		others->since_us = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
		others->begun_ns = now_ns;
		others->next_ns = now_ns + FIRST_NS;
	} else {
		start(others, segments, count);
	}
	return 0;
}

void gpu_others_done(struct gpu_others *others)
{
	if (others->child) {
		kill(others->child, SIGKILL);
		waitpid(others->child, NULL, WNOHANG);
	}
	others->child = 0;
}

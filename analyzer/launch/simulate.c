/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/simulate.h"

#include <dlprof.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFETCH    2
#define WORKER_MOST 8
#define TIMEOUT_MS  5000 /* of the DataLoader's polls */

/*
 * The library looks at pipes only in programs that are a Python. This says that we are one, and
 * nothing else does, so that it follows the simulated loader by what goes through its pipes.
 */
__attribute__((visibility("default"), used)) int Py_IsInitialized(void);
int Py_IsInitialized(void)
{
	return 0;
}

struct loader {
	const struct scene *scene;
	int epoch;
	int tasks[WORKER_MOST]; /* write ends */
	pid_t pids[WORKER_MOST];
	int worker_count;
	int results; /* read end */
	int sent;
	bool held[4096]; /* came before its turn */
};

static void sleep_ms(double ms)
{
	struct timespec time = {.tv_sec = (time_t)(ms / 1000)};

	time.tv_nsec = (long)((ms - (double)time.tv_sec * 1000) * 1e6);
	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		continue;
}

/* Pickles of (number, []) and None, behind their length as multiprocessing sends them. */
static int send_message(int pipe, int number)
{
	const uint8_t task[] = {
		0, 0, 0, 8, 0x80, 4, 'M', (uint8_t)number, (uint8_t)(number >> 8), ']', 0x86, '.'};
	const uint8_t none[] = {0, 0, 0, 4, 0x80, 4, 'N', '.'};
	const uint8_t *bytes = number < 0 ? none : task;
	size_t size = number < 0 ? sizeof(none) : sizeof(task);

	return write(pipe, bytes, size) == (ssize_t)size ? 0 : -EPIPE;
}

/* The number, -1 for None, or -EPIPE - 1 below that: the other side is gone. */
static int receive_message(int pipe)
{
	struct pollfd wait = {pipe, POLLIN, 0};
	uint8_t length[4], message[8];

	while (poll(&wait, 1, TIMEOUT_MS) <= 0)
		continue;
	if (read(pipe, length, sizeof(length)) != sizeof(length) || length[3] > sizeof(message) ||
	    read(pipe, message, length[3]) != length[3])
		return -EPIPE;
	return message[2] == 'N' ? -1 : message[3] | message[4] << 8;
}

static void work(const struct scene *scene, int epoch, int worker, int tasks, int results)
{
	int number;

	sleep_ms(scene->start_ms);
	while ((number = receive_message(tasks)) >= 0) {
		const struct scene_task task = {epoch, number, worker};

		sleep_ms(scene_load_ms(scene, &task));
		if (send_message(results, number) < 0)
			break;
	}
	_exit(0);
}

static int start_worker(struct loader *loader, int worker, int results)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	if (pipe(ends) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		/* Else workers would hold one another's pipes open. */
		for (int i = 0; i < worker; i++)
			close(loader->tasks[i]);
		close(ends[1]);
		close(loader->results);
		work(loader->scene, loader->epoch, worker, ends[0], results);
	}
	close(ends[0]);
	loader->tasks[worker] = ends[1];
	loader->pids[worker] = pid;
	loader->worker_count++;
	return 0;
}

/* The next task goes out, to the workers in turn. */
static int send_task(struct loader *loader)
{
	int worker = loader->sent % loader->worker_count;

	if (loader->sent == loader->scene->batches)
		return 0;
	return send_message(loader->tasks[worker], loader->sent++);
}

static int start_loader(struct loader *loader)
{
	int ends[2], r = 0;

	if (pipe(ends) < 0)
		return -errno;
	loader->results = ends[0];
	for (int i = 0; r == 0 && i < loader->scene->workers; i++)
		r = start_worker(loader, i, ends[1]);
	close(ends[1]);
	for (int i = 0; r == 0 && i < PREFETCH * loader->scene->workers; i++)
		r = send_task(loader);
	return r;
}

/* Waits for that batch, whichever comes first. */
static int next_batch(struct loader *loader, int batch)
{
	while (!loader->held[batch]) {
		int number = receive_message(loader->results);

		if (number < 0 || number >= loader->scene->batches)
			return -EPIPE;
		loader->held[number] = true;
	}
	return send_task(loader);
}

static void end_loader(struct loader *loader)
{
	for (int i = 0; i < loader->worker_count; i++) {
		send_message(loader->tasks[i], -1);
		close(loader->tasks[i]);
	}
	for (int i = 0; i < loader->worker_count; i++)
		waitpid(loader->pids[i], NULL, 0);
	close(loader->results);
}

static int train_epoch(const struct scene *scene, int epoch)
{
	struct loader loader = {.scene = scene, .epoch = epoch};
	int r = start_loader(&loader);

	for (int i = 0; r == 0 && i < scene->batches; i++) {
		const struct scene_task task = {epoch, i, 0};

		r = next_batch(&loader, i);
		sleep_ms(scene_step_ms(scene, &task));
	}
	end_loader(&loader);
	return r;
}

/* Nothing goes through pipes here: the marks of dlprof.h say what there is to know. */
static void train_alone(const struct scene *scene, int epoch)
{
	for (int i = 0; i < scene->batches; i++) {
		const struct scene_task task = {epoch, i, 0};

		dlprof_batch_begin();
		dlprof_load_begin(i);
		sleep_ms(scene_load_ms(scene, &task));
		dlprof_load_end(i);
		dlprof_batch_end(i);
		sleep_ms(scene_step_ms(scene, &task));
	}
	dlprof_batch_begin();
	dlprof_batch_end(DLPROF_END);
}

int simulate(const struct scene *scene)
{
	int r = 0;

	for (int epoch = 0; r == 0 && epoch < scene->epochs; epoch++) {
		if (scene->workers)
			r = train_epoch(scene, epoch);
		else
			train_alone(scene, epoch);
	}
	return r;
}

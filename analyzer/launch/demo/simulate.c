/* SPDX-License-Identifier: Apache-2.0 */
/* simulate.c - a training and its loader as threads that sleep, and mark loads and batches. */
#include "launch/scene.h"

#include <dlprof.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define PREFETCH    2
#define WORKER_MOST 8

/* `lock` guards all members but `scene`. Each change of a guarded member signals `changed`. */
struct loader {
	const struct scene *scene;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int epoch;
	int wanted; /* number of batches of the epoch that may be loaded; 0: it has not begun */
	int first;  /* number of workers whose first load has begun */
	int failed; /* a worker could not be started: -errno */
	int is_loaded[4096];
};

struct worker {
	struct loader *loader;
	pthread_t thread;
	int number;
};

static void sleep_ms(double ms)
{
	struct timespec time = {.tv_sec = (time_t)(ms / 1000)};

	time.tv_nsec = (long)((ms - (double)time.tv_sec * 1000) * 1e6);
	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		continue;
}

/* Waits until *count is at least `least`. Returns false if the loader failed. */
static bool wait_until(struct loader *loader, const int *count, int least)
{
	pthread_mutex_lock(&loader->lock);
	while (*count < least && !loader->failed)
		pthread_cond_wait(&loader->changed, &loader->lock);
	pthread_mutex_unlock(&loader->lock);
	return !loader->failed;
}

static void set(struct loader *loader, int *count, int value)
{
	pthread_mutex_lock(&loader->lock);
	*count = value;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

/*
 * Begins a load. dlprof numbers threads in the order of their first loads, but only if these
 * overlap. So worker 0 begins first, and no first load ends before the last one has begun.
 */
static bool begin_load(struct worker *worker, int batch)
{
	struct loader *loader = worker->loader;

	if (loader->epoch || batch != worker->number) {
		dlprof_load_begin(batch);
		return true;
	}
	if (!wait_until(loader, &loader->first, worker->number))
		return false;
	dlprof_load_begin(batch);
	set(loader, &loader->first, worker->number + 1);
	return wait_until(loader, &loader->first, loader->scene->workers);
}

static void *work(void *context)
{
	struct worker *worker = context;
	struct loader *loader = worker->loader;
	const struct scene *scene = loader->scene;

	for (int epoch = 0; epoch < scene->epochs; epoch++) {
		if (!wait_until(loader, &loader->epoch, epoch))
			return NULL;
		sleep_ms(scene->start_ms);
		for (int i = worker->number; i < scene->batches; i += scene->workers) {
			const struct scene_task task = {epoch, i, worker->number};

			if (!wait_until(loader, &loader->wanted, i + 1) || !begin_load(worker, i))
				return NULL;
			sleep_ms(scene_load_ms(scene, &task));
			dlprof_load_end(i);
			set(loader, &loader->is_loaded[i], true);
		}
	}
	return NULL;
}

static void take_batch(struct loader *loader, int batch)
{
	pthread_mutex_lock(&loader->lock);
	while (!loader->is_loaded[batch])
		pthread_cond_wait(&loader->changed, &loader->lock);
	loader->is_loaded[batch] = false;
	loader->wanted++;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}

static void load_here(const struct scene *scene, int epoch, int batch)
{
	const struct scene_task task = {epoch, batch, 0};

	dlprof_load_begin(batch);
	sleep_ms(scene_load_ms(scene, &task));
	dlprof_load_end(batch);
}

static void train_epoch(struct loader *loader, int epoch)
{
	const struct scene *scene = loader->scene;

	set(loader, &loader->wanted, PREFETCH * scene->workers);
	for (int i = 0; i < scene->batches; i++) {
		const struct scene_task task = {epoch, i, 0};

		dlprof_batch_begin();
		if (scene->workers)
			take_batch(loader, i);
		else
			load_here(scene, epoch, i);
		dlprof_batch_end(i);
		sleep_ms(scene_step_ms(scene, &task));
	}
	dlprof_batch_begin();
	dlprof_batch_end(DLPROF_END);
	set(loader, &loader->wanted, 0);
	set(loader, &loader->epoch, epoch + 1);
}

int simulate(const struct scene *scene)
{
	struct loader loader = {
		.scene = scene,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct worker workers[WORKER_MOST];
	int started = 0, r = 0;

	for (; r == 0 && started < scene->workers; started += r == 0) {
		workers[started] = (struct worker){.loader = &loader, .number = started};
		r = -pthread_create(&workers[started].thread, NULL, work, &workers[started]);
	}
	if (r)
		set(&loader, &loader.failed, r);
	for (int epoch = 0; r == 0 && epoch < scene->epochs; epoch++)
		train_epoch(&loader, epoch);
	for (int i = 0; i < started; i++)
		pthread_join(workers[i].thread, NULL);
	return r;
}

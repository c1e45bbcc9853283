/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tf_metrics.c - two libraries that TensorFlow consists of, as far as it counts what its iterators
 * were asked for: with -DFRAMEWORK the one that keeps the figures, else the one that tells it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

void _ZN10tensorflow7metrics27RecordTFDataGetNextDurationEm(unsigned long wait_us);
void _ZN10tensorflow7metrics24RecordTFDataBytesFetchedEl(long bytes);

#ifdef FRAMEWORK
static uint64_t calls, us, fetched;

void _ZN10tensorflow7metrics27RecordTFDataGetNextDurationEm(unsigned long wait_us)
{
	calls++;
	us += wait_us;
}

void _ZN10tensorflow7metrics24RecordTFDataBytesFetchedEl(long bytes)
{
	fetched += (uint64_t)bytes;
}

uint64_t metrics_calls(void);
uint64_t metrics_calls(void)
{
	return calls;
}

uint64_t metrics_bytes(void);
uint64_t metrics_bytes(void)
{
	return fetched;
}
#else
struct asked {
	long us, bytes;
};

static void *ask(void *data)
{
	const struct asked *asked = data;
	struct timespec nap = {.tv_nsec = asked->us * 1000};

	if (asked->us)
		nanosleep(&nap, NULL);
	_ZN10tensorflow7metrics27RecordTFDataGetNextDurationEm((unsigned long)asked->us);
	_ZN10tensorflow7metrics24RecordTFDataBytesFetchedEl(asked->bytes);
	return NULL;
}

/* On this thread, as eagerly. */
void get_next(long us, long bytes);
void get_next(long us, long bytes)
{
	ask(&(struct asked){us, bytes});
}

struct graph {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct asked asked;
	int wanted; /* 1: an element; -1: no more */
};

static struct graph graphs[4];

static void *run(void *data)
{
	struct graph *graph = data;
	int wanted;

	for (;;) {
		pthread_mutex_lock(&graph->lock);
		while (!graph->wanted)
			pthread_cond_wait(&graph->changed, &graph->lock);
		wanted = graph->wanted;
		pthread_mutex_unlock(&graph->lock);
		if (wanted < 0)
			return NULL;
		ask(&graph->asked);
		pthread_mutex_lock(&graph->lock);
		graph->wanted = 0;
		pthread_cond_broadcast(&graph->changed);
		pthread_mutex_unlock(&graph->lock);
	}
}

/* On the thread of that node of the graph; `bytes` < 0 ends it. */
void graph_next(int number, long us, long bytes);
void graph_next(int number, long us, long bytes)
{
	struct graph *graph = &graphs[number];

	if (!graph->thread) {
		pthread_mutex_init(&graph->lock, NULL);
		pthread_cond_init(&graph->changed, NULL);
		pthread_create(&graph->thread, NULL, run, graph);
	}
	pthread_mutex_lock(&graph->lock);
	graph->asked = (struct asked){us, bytes};
	graph->wanted = bytes < 0 ? -1 : 1;
	pthread_cond_broadcast(&graph->changed);
	while (graph->wanted > 0)
		pthread_cond_wait(&graph->changed, &graph->lock);
	pthread_mutex_unlock(&graph->lock);
	if (bytes < 0)
		pthread_join(graph->thread, NULL);
}

static atomic_bool idle;
static pthread_t busy[2];

static void *ask_on(void *data)
{
	while (!idle) {
		ask(&(struct asked){0, 8});
		ask(&(struct asked){0, 0});
	}
	return data;
}

/* Threads that are always at the end of an epoch, or at its begin. */
void graph_busy(void);
void graph_busy(void)
{
	for (int i = 0; i < 2; i++)
		pthread_create(&busy[i], NULL, ask_on, NULL);
}

void graph_idle(void);
void graph_idle(void)
{
	idle = true;
	for (int i = 0; i < 2; i++)
		pthread_join(busy[i], NULL);
}
#endif

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

/* absl::Time, which comes by value. */
struct tf_time {
	uint64_t high;
	uint32_t low;
};

#define COLLECTOR(name) _ZN10tensorflow4data24IteratorMetricsCollector##name
#define MADE                                                                                       \
	COLLECTOR(C1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKN3tsl3EnvE)
#define ASKED COLLECTOR(11RecordStartEv)

void MADE(void *iterator, const void *device, const void *env);
struct tf_time ASKED(void *iterator);
void _ZN10tensorflow7metrics27RecordTFDataGetNextDurationEm(unsigned long wait_us);
void _ZN10tensorflow7metrics24RecordTFDataBytesFetchedEl(long bytes);
/* The destructor of an iterator's resource. */
void _ZN10tensorflow4data16IteratorResourceD0Ev(void *iterator);

#ifdef FRAMEWORK
static uint64_t calls, us, fetched, made, asked;

void MADE(void *iterator, const void *device, const void *env)
{
	made += iterator && !device && !env;
}

/* 0x... as a time, which whoever asks gets back. */
struct tf_time ASKED(void *iterator)
{
	asked++;
	return (struct tf_time){(uintptr_t)iterator * 3, (uint32_t)asked};
}

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

uint64_t metrics_made(void);
uint64_t metrics_made(void)
{
	return made;
}

/* It waits for the pipeline's threads. */
void _ZN10tensorflow4data16IteratorResourceD0Ev(void *iterator)
{
	nanosleep(&(struct timespec){.tv_nsec = iterator ? 60000000 : 0}, NULL);
}
#else
struct asked {
	long us, bytes;
	long iterator, inner; /* numbers, -1: of none that is told */
};

#define OBJECT_MAX 256

static char objects[OBJECT_MAX];

/* Its object is number `number`. */
void iterator_made(long number);
void iterator_made(long number)
{
	MADE(&objects[number % OBJECT_MAX], NULL, NULL);
}

void iterator_dropped(long number);
void iterator_dropped(long number)
{
	_ZN10tensorflow4data16IteratorResourceD0Ev(&objects[number % OBJECT_MAX]);
}

static atomic_int wrong;

/* Times that did not come back as they were given. */
int times_wrong(void);
int times_wrong(void)
{
	return wrong;
}

static void begin(long number)
{
	static _Atomic uint32_t count;
	void *object = &objects[number % OBJECT_MAX];
	struct tf_time time;

	if (number < 0)
		return;
	time = ASKED(object);
	wrong += time.high != (uintptr_t)object * 3 || time.low != ++count;
}

static void *ask(void *data)
{
	const struct asked *asked = data;
	struct timespec nap = {.tv_nsec = asked->us * 1000};

	begin(asked->iterator);
	begin(asked->inner);
	if (asked->inner >= 0) {
		_ZN10tensorflow7metrics27RecordTFDataGetNextDurationEm(1);
		_ZN10tensorflow7metrics24RecordTFDataBytesFetchedEl(1);
	}
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
	ask(&(struct asked){us, bytes, -1, -1});
}

struct graph {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct asked asked;
	int wanted; /* 1: an element; -1: no more */
};

static struct graph graphs[40];

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
void graph_ask(int number, long us, long bytes, long iterator, long inner);
void graph_ask(int number, long us, long bytes, long iterator, long inner)
{
	struct graph *graph = &graphs[number];

	if (!graph->thread) {
		pthread_mutex_init(&graph->lock, NULL);
		pthread_cond_init(&graph->changed, NULL);
		pthread_create(&graph->thread, NULL, run, graph);
	}
	pthread_mutex_lock(&graph->lock);
	graph->asked = (struct asked){us, bytes, iterator, inner};
	graph->wanted = bytes < 0 ? -1 : 1;
	pthread_cond_broadcast(&graph->changed);
	while (graph->wanted > 0)
		pthread_cond_wait(&graph->changed, &graph->lock);
	pthread_mutex_unlock(&graph->lock);
	if (bytes < 0)
		pthread_join(graph->thread, NULL);
}

void graph_next(int number, long us, long bytes);
void graph_next(int number, long us, long bytes)
{
	graph_ask(number, us, bytes, -1, -1);
}

static atomic_bool idle;
static pthread_t busy[2];

static void *ask_on(void *data)
{
	while (!idle) {
		ask(&(struct asked){0, 8, -1, -1});
		ask(&(struct asked){0, 0, -1, -1});
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

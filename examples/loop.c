/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - a training loop in C whose batches dlprof follows by the marks of dlprof.h.
 *
 *	cc -Iinclude examples/loop.c -o loop
 *	LD_PRELOAD=build/shim/libdlprof.so ./loop && build/analyzer/dlprof-report dlprof-*.db
 *
 * usage: loop [WORKERS [LOAD_MS [STEP_MS [BATCHES [STAMPS]]]]]: two epochs of BATCHES. Loading and
 * training are sleeps. STAMPS: a file for the loop's own times, "epoch number begin_ns end_ns".
 */
#define _POSIX_C_SOURCE 200809L
#include <dlprof.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define QUEUE_MAX  8
#define WORKER_MAX 64

struct batch {
	long number;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	struct batch batches[QUEUE_MAX];
	unsigned int count, first;
	long next, last;	/* numbers of the epoch's batches that are still to be loaded */
	int running;		/* workers */
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER,
	   .emptied = PTHREAD_COND_INITIALIZER};

static int workers = 2;
static long load_ms = 30, step_ms = 5, batches = 60;
static FILE *stamps;

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

static struct batch load(long number)
{
	struct batch batch = {number};

	dlprof_load_begin(number);
	sleep_ms(load_ms);
	dlprof_load_end(number);
	return batch;
}

static void *work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&queue.lock);
	while (queue.next < queue.last) {
		long number = queue.next++;
		struct batch batch;

		pthread_mutex_unlock(&queue.lock);
		batch = load(number);
		pthread_mutex_lock(&queue.lock);
		while (queue.count == QUEUE_MAX)
			pthread_cond_wait(&queue.emptied, &queue.lock);
		queue.batches[(queue.first + queue.count++) % QUEUE_MAX] = batch;
		pthread_cond_signal(&queue.filled);
	}
	queue.running--;
	pthread_cond_signal(&queue.filled);
	pthread_mutex_unlock(&queue.lock);
	return NULL;
}

/* The next batch in the order in which they are done; 0: there is none. */
static int pop(struct batch *batch)
{
	int there;

	pthread_mutex_lock(&queue.lock);
	while (!queue.count && queue.running)
		pthread_cond_wait(&queue.filled, &queue.lock);
	there = queue.count > 0;
	if (there) {
		*batch = queue.batches[queue.first];
		queue.first = (queue.first + 1) % QUEUE_MAX;
		queue.count--;
		pthread_cond_signal(&queue.emptied);
	}
	pthread_mutex_unlock(&queue.lock);
	return there;
}

static long train_epoch(int epoch)
{
	struct batch batch;
	long count = 0;
	int there;

	do {
		int64_t begin_ns = now_ns(), end_ns;

		dlprof_batch_begin();
		there = pop(&batch);
		dlprof_batch_end(there ? batch.number : DLPROF_END);
		end_ns = now_ns();
		if (there) {
			if (stamps)
				fprintf(stamps, "%d %ld %lld %lld\n", epoch, batch.number,
					(long long)begin_ns, (long long)end_ns);
			sleep_ms(step_ms);
			count++;
		}
	} while (there);
	return count;
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKER_MAX];
	long count = 0;

	if (argc > 1)
		workers = atoi(argv[1]);
	if (argc > 2)
		load_ms = atol(argv[2]);
	if (argc > 3)
		step_ms = atol(argv[3]);
	if (argc > 4)
		batches = atol(argv[4]);
	if (argc > 5)
		stamps = fopen(argv[5], "w");
	if (workers < 1 || workers > WORKER_MAX || (argc > 5 && !stamps)) {
		fprintf(stderr, "usage: loop [WORKERS [LOAD_MS [STEP_MS [BATCHES [STAMPS]]]]]\n");
		return 2;
	}
	for (int epoch = 0; epoch < 2; epoch++) {
		char text[32];

		snprintf(text, sizeof(text), "epoch %d", epoch);
		dlprof_mark(text);
		queue.next = 0;
		queue.last = batches;
		queue.running = workers;
		for (int i = 0; i < workers; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		count += train_epoch(epoch);
		for (int i = 0; i < workers; i++)
			pthread_join(threads[i], NULL);
	}
	printf("trained %ld\n", count);
	if (stamps)
		fclose(stamps);
	return 0;
}

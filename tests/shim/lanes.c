/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.c - threads that load without a pause, so that they take each other's lanes.
 *
 * usage: lanes. Thread t of THREADS loads LOADS batches, numbered from t * LOADS on, with t + 1
 * reads of "data" each. The process's first thread is one of them.
 */
#include <dlprof.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 6
#define LOADS	1500

static pthread_barrier_t together;
static int data;

static void *load(void *number)
{
	const int thread = (int)(intptr_t)number;
	struct random_data state = {0};
	char bytes[8], memory[32];
	int32_t chance = 0;

	initstate_r((unsigned int)thread, memory, sizeof(memory), &state);
	pthread_barrier_wait(&together);
	for (int i = 0; i < LOADS; i++) {
		/* Gives up the core in or out of a load: the next thread finds another lane. */
		if (random_r(&state, &chance) == 0 && chance & 1)
			sched_yield();
		dlprof_load_begin(thread * LOADS + i);
		if (chance & 2)
			sched_yield();
		for (int k = 0; k <= thread; k++)
			if (pread(data, bytes, sizeof(bytes), 0) != sizeof(bytes))
				abort();
		dlprof_load_end(DLPROF_NEXT);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	dlprof_mark("the run begins before they do");
	data = open("data", O_RDONLY);
	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, load, (void *)(intptr_t)i))
			return 2;
	load(0);
	for (int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("loaded");
	return 0;
}

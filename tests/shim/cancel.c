/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel.c - pthread_cancel() of a thread that sleeps in read, poll, sem_wait and a condition.
 *
 * The exit status is the number of checks that failed.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int pipes[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static atomic_int asleep, cleaned, bad;

static void clean(void *argument)
{
	atomic_fetch_add(&cleaned, 1);
}

/* By POSIX a thread that is cancelled in a wait for a condition holds the mutex when this runs. */
static void clean_locked(void *argument)
{
	bad += pthread_mutex_trylock(&mutex) == 0;
	bad += pthread_mutex_unlock(&mutex) != 0;
	atomic_fetch_add(&cleaned, 1);
}

static void *in_read(void *argument)
{
	char byte;

	pthread_cleanup_push(clean, NULL);
	asleep = 1;
	bad += read(pipes[0], &byte, 1) != 99;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_poll(void *argument)
{
	struct pollfd fd = {.fd = pipes[0], .events = POLLIN};

	pthread_cleanup_push(clean, NULL);
	asleep = 1;
	bad += poll(&fd, 1, -1) != 99;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_semaphore(void *argument)
{
	pthread_cleanup_push(clean, NULL);
	asleep = 1;
	bad += sem_wait(&semaphore) != 99;
	pthread_cleanup_pop(0);
	return NULL;
}

static void *in_condition(void *argument)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean_locked, NULL);
	asleep = 1;
	while (1)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel(void *(*work)(void *))
{
	static const struct timespec moment = {0, 3000000};
	int before = cleaned;
	pthread_t thread;
	void *result = NULL;

	asleep = 0;
	bad += pthread_create(&thread, NULL, work, NULL) != 0;
	while (!asleep)
		nanosleep(&moment, NULL);
	nanosleep(&moment, NULL);
	bad += pthread_cancel(thread) != 0;
	bad += pthread_join(thread, &result) != 0;
	bad += result != PTHREAD_CANCELED;
	bad += cleaned != before + 1;
}

int main(void)
{
	bad += pipe(pipes) != 0;
	sem_init(&semaphore, 0, 0);
	for (int i = 0; i < 5; i++) {
		cancel(in_read);
		cancel(in_poll);
		cancel(in_semaphore);
		cancel(in_condition);
	}
	/* No cancelled thread still holds the mutex. */
	bad += pthread_mutex_trylock(&mutex) != 0;
	pthread_mutex_unlock(&mutex);
	printf("%d cleaned, %d wrong\n", cleaned, bad);
	return bad != 0;
}

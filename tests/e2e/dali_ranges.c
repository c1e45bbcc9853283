/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dali_ranges.c - two libraries that DALI consists of, as far as it marks ranges of time: with
 * -DFRAMEWORK the one that makes them, else one whose executor, reader and run() do.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct range {
	uintptr_t own;
};

void _ZN4dali15DomainTimeRangeC1EPKcj(struct range *range, const char *name, unsigned color);
void _ZN4dali15DomainTimeRangeD1Ev(struct range *range);
long ranges_open(void);

#ifdef FRAMEWORK
static _Atomic long open;

void _ZN4dali15DomainTimeRangeC1EPKcj(struct range *range, const char *name, unsigned color)
{
	range->own = (uintptr_t)range ^ (uintptr_t)(*name != '\0');
	open++;
	(void)color;
}

void _ZN4dali15DomainTimeRangeD1Ev(struct range *range)
{
	open -= range->own == ((uintptr_t)range ^ 1);
}

long ranges_open(void)
{
	return open;
}
#else
static void nap(long us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

static void mark(const char *name, long us, void (*within)(long), long within_us)
{
	struct range range;

	_ZN4dali15DomainTimeRangeC1EPKcj(&range, name, 7);
	nap(us);
	if (within)
		within(within_us);
	_ZN4dali15DomainTimeRangeD1Ev(&range);
}

static void read_files(long us)
{
	for (int i = 0; i < 4; i++)
		mark("[DALI][Loader] ReadOne", us / 4, NULL, 0);
}

static long operator_us, reader_us;

/* The executors of DALI 1.30: operators have the names of the pipeline's, and run() no range. */
static void operate(long us)
{
	mark("[DALI][DataReader] ConsumerWait #__File_0", reader_us, NULL, 0);
	mark("[DALI][CPU op] __File_0", 0, NULL, 0);
	mark("[DALI][CPU op] __Image_1", us / 4, NULL, 0);
	mark("[DALI][CPU op] Shrink", us / 4, NULL, 0);
	mark("[DALI][CPU op] __Resize_12", us / 2, NULL, 0);
}

static void *execute_old(void *data)
{
	mark("[DALI][Executor] RunCPU", 0, operate, operator_us);
	return data;
}

static void *execute(void *data)
{
	mark("[DALI][CPU op] Setup readers__File", 0, NULL, 0);
	mark("[DALI][DataReader] ConsumerWait #readers__File_1", reader_us, NULL, 0);
	mark("[DALI][CPU op] Run readers__File", 0, NULL, 0);
	mark("[DALI][CPU op] Run decoders__Image", operator_us / 4, NULL, 0);
	mark("[DALI][CPU op] Run Resize", operator_us * 3 / 4, NULL, 0);
	return data;
}

static void *read_ahead(void *data)
{
	mark("[DALI][DataReader] Prefetch #readers__File_1", 0, read_files, reader_us);
	return data;
}

static void wait_for(long is_old)
{
	pthread_t executor, reader;

	pthread_create(&reader, NULL, read_ahead, NULL);
	pthread_create(&executor, NULL, is_old ? execute_old : execute, NULL);
	pthread_join(executor, NULL);
	pthread_join(reader, NULL);
}

/* One iteration: what Pipeline.run() does. */
void run_pipeline(long us_of_operators, long us_of_reader, int is_old);
void run_pipeline(long us_of_operators, long us_of_reader, int is_old)
{
	operator_us = us_of_operators;
	reader_us = us_of_reader;
	if (is_old) {
		wait_for(true);
		return;
	}
	mark("[DALI][Executor] Launch", 100, NULL, 0);
	mark("[DALI][Executor] PopOutputs", 0, wait_for, 0);
}
#endif

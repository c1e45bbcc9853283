/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - reads a running process's Python stacks: the main interpreter of CPython 3.8 to 3.15
 * with the GIL. The process is not stopped, signalled or changed.
 */
#pragma once

#include "drain/python/runtime.h"
#include "drain/python/stack.h"

#define PYTHON_THREADS 256 /* of a process with more threads, only the newest are read */
#define PYTHON_STACKS  16

struct python;

struct python_thread {
	uint64_t id;  /* pthread_self(); 0: the thread has not begun */
	uint32_t tid; /* gettid(); 0: unknown, which happens before 3.11 */
	bool has_gil;
	const struct stack *stack; /* NULL: the stack of this thread was not asked for */
};

/* A sample takes 20 KB, so allocate it only once. */
struct python_sample {
	struct python_thread threads[PYTHON_THREADS]; /* the newest first */
	size_t count;
	struct stack stacks[PYTHON_STACKS]; /* what `threads[i].stack` points to */
	size_t stack_count;
};

struct python_counts {
	uint64_t samples, failed; /* samples taken, and those of them without any thread */
	uint64_t stacks, torn;
	uint64_t missed, reused;
};

/* `start_ticks` is from alive_start_ticks(). *ret is set only if REASON_OBSERVED is returned. */
enum reason python_open(int32_t pid, uint64_t start_ticks, struct python **ret);
void python_close(struct python *python);

/*
 * Reads the stacks of `tids` or, if NULL, of all threads, the GIL's holder first. Results are valid
 * until the next call. After any result but REASON_OBSERVED, open the process again.
 */
enum reason python_sample(struct python *python, const uint32_t *tids, size_t count,
			  struct python_sample *ret);

const struct python_counts *python_counts(struct python *python);

/* Returns true if the thread sleeps until another thread releases the GIL. */
bool python_awaits_gil(const struct python *python, uint32_t tid);

/* For tests: attaches to memory that need not be a process's. */
enum reason python_attach(const struct memory *memory, const struct runtime *runtime,
			  struct python **ret);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - reads the Python stacks of another process from outside, while it runs.
 *
 * The process is not stopped, signalled or changed. This works for the main interpreter of CPython
 * 3.8 to 3.15 with the GIL; anything else is not observed, for a reason in reason.h.
 */
#pragma once

#include "drain/python/runtime.h"
#include "drain/python/stack.h"

#define PYTHON_THREADS 256 /* of a process with more threads, the newest are read */
#define PYTHON_STACKS  16  /* largest number of stacks in one sample */

struct python;

struct python_thread {
	uint64_t id;  /* pthread_self(); 0: the thread has not begun */
	uint32_t tid; /* gettid(); 0: unknown, which happens before 3.11 */
	bool has_gil; /* the thread holds the GIL */
	const struct stack *stack; /* NULL: this stack was not wanted */
};

/* A sample of a process. It has 20 KB, so allocate it only once. */
struct python_sample {
	struct python_thread threads[PYTHON_THREADS]; /* the newest first */
	size_t count;
	struct stack stacks[PYTHON_STACKS]; /* the stacks that `threads` point to */
	size_t stack_count;
};

/* Counts over all samples of a process, for tests. */
struct python_counts {
	uint64_t samples, failed; /* all samples, and those without any thread */
	uint64_t stacks, torn;
	uint64_t missed, reused; /* counts of code objects, see code.h */
};

/*
 * Opens a process. `start_ticks` is the start by alive_start_ticks(), so that another process with
 * the same pid is not taken for it. *ret is set only if the result is REASON_OBSERVED.
 */
enum reason python_open(int32_t pid, uint64_t start_ticks, struct python **ret);
void python_close(struct python *python);

/*
 * Reads the stacks of threads `tids`, or of all if `tids` is NULL. The stack of the thread with the
 * GIL is read first, as there may not be room for all. Results are valid until the next call. If
 * the result is not REASON_OBSERVED, as after an execve(), open the process again.
 */
enum reason python_sample(struct python *python, const uint32_t *tids, size_t count,
			  struct python_sample *ret);

const struct python_counts *python_counts(struct python *python);

/* Attaches to plain memory and the layout of its interpreter, for tests. */
enum reason python_attach(const struct memory *memory, const struct runtime *runtime,
			  struct python **ret);

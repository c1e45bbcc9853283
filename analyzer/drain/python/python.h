/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - reads the Python stacks of another process from outside while it runs.
 *
 * The process is neither stopped nor signalled nor changed. It works for CPython 3.8 to 3.15 with
 * its lock, and for the main interpreter; anything else is not observed, for a reason of reason.h.
 */
#pragma once

#include "drain/python/runtime.h"
#include "drain/python/stack.h"

#define PYTHON_THREADS 256 /* threads of a process, the newest ones */
#define PYTHON_STACKS  16  /* stacks in one sample */

struct python;

struct python_thread {
	uint64_t id;  /* pthread_self() of the thread; 0: it has not begun */
	uint32_t tid; /* gettid() of the thread; 0: not known, which happens before 3.11 */
	bool has_gil; /* it holds the interpreter's lock */
	const struct stack *stack; /* NULL: its stack was not asked for */
};

/* A sample has 20 KB, so make it once. */
struct python_sample {
	struct python_thread threads[PYTHON_THREADS]; /* the newest first */
	size_t count;
	struct stack stacks[PYTHON_STACKS]; /* stacks that the threads point to */
	size_t stack_count;
};

/* Counts over all samples of a process. */
struct python_counts {
	uint64_t samples, failed; /* failed ones have no thread at all */
	uint64_t stacks, torn;
	uint64_t missed, reused; /* looks at code objects, see code.h */
};

/*
 * Opens a process. `start_ticks` is its start as of alive_start_ticks(), so that no other process
 * of the same number is taken for it. *ret is set if it is observed.
 */
enum reason python_open(int32_t pid, uint64_t start_ticks, struct python **ret);
void python_close(struct python *python);

/*
 * Reads the stacks of the threads `tids`, or of all if that is NULL, and of the thread that has the
 * lock, which comes first where not all have room. What `ret` points to lasts until the next call.
 * If it is no longer observed, open it anew, as after execve().
 */
enum reason python_sample(struct python *python, const uint32_t *tids, size_t count,
			  struct python_sample *ret);

const struct python_counts *python_counts(struct python *python);

/* For tests: attaches to mere memory, with the layout of its interpreter. */
enum reason python_attach(const struct memory *memory, const struct runtime *runtime,
			  struct python **ret);

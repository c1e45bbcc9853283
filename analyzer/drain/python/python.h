/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python.h - the Python stacks of another process, read from outside while it runs.
 *
 * The process is neither stopped nor signalled nor changed. CPython 3.8 to 3.15 with its lock, and
 * of it the main interpreter; all else is not observed, for one of the reasons of reason.h.
 */
#pragma once

#include "drain/python/runtime.h"
#include "drain/python/stack.h"

#define PYTHON_THREADS 256 /* of a process, the newest */
#define PYTHON_STACKS  16  /* that one sample has */

struct python;

struct python_thread {
	uint64_t id;  /* what pthread_self() says in it; 0: it has not begun */
	uint32_t tid; /* what gettid() says in it; 0: not known, as of 3.8 to 3.10 it may be */
	bool has_gil; /* it holds the interpreter's lock */
	const struct stack *stack; /* NULL: it was not asked for */
};

/* 20 KB: make it once. */
struct python_sample {
	struct python_thread threads[PYTHON_THREADS]; /* the newest first */
	size_t count;
	struct stack stacks[PYTHON_STACKS]; /* what the threads point to */
	size_t stack_count;
};

/* Over all samples of a process. */
struct python_counts {
	uint64_t samples, failed; /* a failed one has no threads at all */
	uint64_t stacks, torn;
	uint64_t missed, reused; /* code objects, see code.h */
};

/*
 * `start_ticks`: when the process started, as alive_start_ticks() has it, so that no other process
 * of the same number is taken for it. *ret is set if it is observed.
 */
enum reason python_open(int32_t pid, uint64_t start_ticks, struct python **ret);
void python_close(struct python *python);

/*
 * The stacks of the threads `tids`, or of all if that is NULL, and of the one that has the lock,
 * which comes first where there are more than a sample can have. What `ret` points to lasts until
 * the next call. Not observed: what is there now is to be opened anew, as after execve(), or never.
 */
enum reason python_sample(struct python *python, const uint32_t *tids, size_t count,
			  struct python_sample *ret);

const struct python_counts *python_counts(struct python *python);

/* For tests: a process of which only the memory is known, and the layout of its interpreter. */
enum reason python_attach(const struct memory *memory, const struct runtime *runtime,
			  struct python **ret);

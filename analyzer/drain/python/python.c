/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/python/python.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "drain/base/process.h"
#include "drain/segments/alive.h"

/*
 * CPython before 3.11 does not store gettid(). In glibc since 2.4, on x86-64, the tid is this many
 * bytes after pthread_self(). The offset is used if it gives the right tid for the main thread.
 */
#define PTHREAD_TID 720

/*
 * Bytes from the GIL's field last_holder to the end of the GIL's mutexes, in all versions:
 * sizeof(struct _gil_runtime_state) - offsetof(struct _gil_runtime_state, last_holder).
 */
#define GIL_BYTES 200

/* number of attempts to list the threads: they may begin or end meanwhile */
#define TRIES_MAX 4

/* after this many samples without a readable stack, the process counts as no known CPython */
#define FAILED_MAX 100

struct thread {
	uint64_t address;
	uint64_t id; /* before 3.11: the pthread_self() for which `tid` was read */
	uint32_t tid;
	uint8_t state[LAYOUT_THREAD_BYTES];
};

struct python {
	struct memory memory;
	struct runtime runtime;
	int pidfd; /* -1: there is none, on an old kernel or in tests */
	uint64_t start_ticks;
	uint64_t interpreter, gil;
	struct thread threads[PYTHON_THREADS];
	size_t thread_count;
	bool has_tids; /* before 3.11: PTHREAD_TID gave the right tid */
	struct code_cache codes;
	struct python_counts counts;
	uint64_t failed_in_a_row;
};

/* The state of interpreter, GIL and threads at one moment, since one system call reads it all. */
struct heads {
	uint64_t interpreter, newest, gil, holder;
	int32_t locked;
	size_t count; /* number of known threads, from the newest on, that are still linked */
};

static uint64_t number(const struct python *python, enum layout_offset offset)
{
	return python->runtime.layout.at[offset];
}

static bool is_own_gil(const struct python *python)
{
	return number(python, INTERPRETER_GIL) != LAYOUT_NONE;
}

static int find_interpreter(struct python *python, uint64_t *ret_newest)
{
	int r = memory_read(&python->memory, runtime_interpreter(&python->runtime),
			    &python->interpreter, 8);

	python->gil = python->runtime.address;
	if (r == 0 && is_own_gil(python))
		r = memory_read(&python->memory,
				python->interpreter + number(python, INTERPRETER_GIL), &python->gil,
				8);
	if (r < 0)
		return r;
	return memory_read(&python->memory,
			   python->interpreter + number(python, INTERPRETER_THREADS), ret_newest,
			   8);
}

/* Finds the tids before 3.11. While a new thread has no id yet, its tid is unknown. */
static void find_tids(struct python *python)
{
	const struct thread *oldest = &python->threads[python->thread_count - 1];

	for (size_t i = 0; i < python->thread_count; i++) {
		struct thread *thread = &python->threads[i];
		const uint64_t id = memory_word(thread->state, number(python, THREAD_ID));

		if (thread->id != id && memory_read(&python->memory, id + PTHREAD_TID, &thread->tid,
						    sizeof(thread->tid)) < 0)
			thread->tid = 0;
		thread->id = id;
	}
	python->has_tids = oldest->tid == (uint32_t)python->memory.pid;
}

static enum reason find_threads(struct python *python)
{
	const struct layout *layout = &python->runtime.layout;
	uint64_t at = 0;
	int r = find_interpreter(python, &at);

	python->thread_count = 0;
	while (r == 0 && at && python->thread_count < PYTHON_THREADS) {
		struct thread *thread = &python->threads[python->thread_count];

		r = memory_read(&python->memory, at, thread->state, layout->thread_bytes);
		if (r < 0)
			break;
		thread->address = at;
		thread->id = 0;
		at = memory_word(thread->state, number(python, THREAD_NEXT));
		python->thread_count++;
	}
	if (!python->thread_count)
		return r < 0 ? reason_of(r) : REASON_NOT_READY;
	return REASON_OBSERVED;
}

/* Reads *ret. Returns false if threads came or went: then ret->count threads are still linked. */
static bool read_heads(struct python *python, struct heads *ret)
{
	static struct memory_list list;
	const uint64_t interpreter = python->interpreter;
	size_t fixed, have;
	uint64_t next;
	int r;

	*ret = (struct heads){.gil = python->gil};
	list.count = 0;
	memory_add(&list, runtime_interpreter(&python->runtime), &ret->interpreter, 8);
	memory_add(&list, interpreter + number(python, INTERPRETER_THREADS), &ret->newest, 8);
	memory_add(&list, python->gil + number(python, GIL_HOLDER), &ret->holder, 8);
	memory_add(&list, python->gil + number(python, GIL_LOCKED), &ret->locked, 4);
	if (is_own_gil(python))
		memory_add(&list, interpreter + number(python, INTERPRETER_GIL), &ret->gil, 8);
	fixed = list.count;
	for (size_t i = 0; i < python->thread_count; i++)
		memory_add(&list, python->threads[i].address, python->threads[i].state,
			   python->runtime.layout.thread_bytes);
	r = memory_read_list(&python->memory, &list);
	have = r < 0 ? 0 : (size_t)r;
	if (have < fixed || ret->interpreter != interpreter || ret->gil != python->gil)
		return false;
	next = ret->newest;
	while (fixed + ret->count < have && python->threads[ret->count].address == next)
		next = memory_word(python->threads[ret->count++].state,
				   number(python, THREAD_NEXT));
	return ret->count && ret->count == python->thread_count &&
	       (!next || ret->count == PYTHON_THREADS);
}

static enum reason take_heads(struct python *python, struct heads *ret)
{
	enum reason reason = REASON_OBSERVED;

	for (int tries = 0; reason == REASON_OBSERVED && tries < TRIES_MAX; tries++) {
		if (python->thread_count && read_heads(python, ret))
			return reason;
		reason = find_threads(python);
	}
	/* If threads come and go faster than they are listed, the last list is used. */
	ret->count = python->thread_count;
	return reason;
}

static uint32_t tid_of(const struct python *python, size_t i, size_t count)
{
	const struct thread *thread = &python->threads[i];

	if (number(python, THREAD_NATIVE) != LAYOUT_NONE)
		return (uint32_t)memory_word(thread->state, number(python, THREAD_NATIVE));
	if (python->has_tids)
		return thread->tid;
	return i + 1 == count ? (uint32_t)python->memory.pid : 0;
}

/* Before 3.12 a new thread starts with the ids of its maker. Returns false for such a thread. */
static bool is_begun(const struct python_sample *sample, size_t i)
{
	for (size_t k = i + 1; k < sample->count; k++)
		if (sample->threads[k].id == sample->threads[i].id ||
		    (sample->threads[i].tid && sample->threads[k].tid == sample->threads[i].tid))
			return false;
	return true;
}

static void take_threads(struct python *python, const struct heads *heads,
			 struct python_sample *ret)
{
	ret->count = heads->count;
	if (number(python, THREAD_NATIVE) == LAYOUT_NONE)
		find_tids(python);
	for (size_t i = 0; i < heads->count; i++) {
		const struct thread *thread = &python->threads[i];

		ret->threads[i] = (struct python_thread){
			.id = memory_word(thread->state, number(python, THREAD_ID)),
			.tid = tid_of(python, i, heads->count),
			.has_gil = heads->locked > 0 && heads->holder == thread->address,
		};
	}
	for (size_t i = 0; i < ret->count; i++)
		if (!is_begun(ret, i))
			ret->threads[i].id = ret->threads[i].tid = 0;
}

static void take_stack(struct python *python, size_t i, struct python_sample *ret)
{
	const struct thread *thread = &python->threads[i];
	struct stack *stack = &ret->stacks[ret->stack_count];

	if (ret->stack_count == PYTHON_STACKS || ret->threads[i].stack)
		return;
	stack_read(&python->memory, &python->runtime.layout, &python->codes, thread->address,
		   thread->state, stack);
	ret->threads[i].stack = stack;
	ret->stack_count++;
	python->counts.stacks++;
	python->counts.torn += stack->is_torn;
}

static bool is_wanted(uint32_t tid, const uint32_t *tids, size_t count)
{
	for (size_t i = 0; tids && i < count; i++)
		if (tids[i] == tid)
			return true;
	return !tids;
}

static bool is_gone(const struct python *python)
{
	struct pollfd end = {.fd = python->pidfd, .events = POLLIN};

	if (python->pidfd >= 0)
		return poll(&end, 1, 0) != 0;
	return python->start_ticks && alive_start_ticks(python->memory.pid) != python->start_ticks;
}

/* Returns false after FAILED_MAX samples in a row in which all stacks were torn and empty. */
static bool count_failures(struct python *python, const struct python_sample *sample)
{
	size_t empty = 0;

	for (size_t i = 0; i < sample->stack_count; i++)
		empty += sample->stacks[i].is_torn && !sample->stacks[i].depth;
	if (!empty || empty < sample->stack_count)
		python->failed_in_a_row = 0;
	else
		python->failed_in_a_row++;
	return python->failed_in_a_row < FAILED_MAX;
}

enum reason python_sample(struct python *python, const uint32_t *tids, size_t count,
			  struct python_sample *ret)
{
	struct heads heads;
	enum reason reason;

	ret->count = ret->stack_count = 0;
	code_next_turn(&python->codes);
	python->counts.samples++;
	reason = take_heads(python, &heads);
	if (reason == REASON_OBSERVED) {
		take_threads(python, &heads, ret);
		for (size_t i = 0; i < ret->count; i++)
			if (ret->threads[i].has_gil)
				take_stack(python, i, ret);
		for (size_t i = 0; i < ret->count; i++)
			if (is_wanted(ret->threads[i].tid, tids, count))
				take_stack(python, i, ret);
		if (!count_failures(python, ret))
			reason = REASON_STRANGE;
	}
	/* If the process still lives, all that was read above is its memory. */
	if (is_gone(python))
		reason = REASON_GONE;
	if (reason != REASON_OBSERVED) {
		python->counts.failed++;
		ret->count = ret->stack_count = 0;
	}
	return reason;
}

/* /proc/PID/task/TID/syscall has "running", or a call's number and arguments in hexadecimal. */
bool python_awaits_gil(const struct python *python, uint32_t tid)
{
	const uint64_t begin = python->gil + number(python, GIL_HOLDER);
	char name[32], text[256];
	uint64_t address;
	long call;

	snprintf(name, sizeof(name), "task/%" PRIu32 "/syscall", tid);
	process_file_read(python->memory.pid, name, text, sizeof(text));
	return sscanf(text, "%ld %" SCNx64, &call, &address) == 2 && call == SYS_futex &&
	       address >= begin && address < begin + GIL_BYTES;
}

const struct python_counts *python_counts(struct python *python)
{
	python->counts.missed = python->codes.missed;
	python->counts.reused = python->codes.reused;
	return &python->counts;
}

enum reason python_attach(const struct memory *memory, const struct runtime *runtime,
			  struct python **ret)
{
	struct python *python = calloc(1, sizeof(*python));
	enum reason reason;

	if (!python)
		return REASON_NO_MEMORY;
	python->memory = *memory;
	python->runtime = *runtime;
	python->pidfd = -1;
	reason = find_threads(python);
	if (reason == REASON_OBSERVED)
		*ret = python;
	else
		python_close(python);
	return reason;
}

enum reason python_open(int32_t pid, uint64_t start_ticks, struct python **ret)
{
	struct memory memory;
	struct runtime runtime;
	enum reason reason;

	*ret = NULL;
	if (!start_ticks || alive_start_ticks(pid) != start_ticks)
		return REASON_GONE;
	memory_open(&memory, pid);
	reason = runtime_find(&memory, &runtime);
	if (reason == REASON_OBSERVED)
		reason = python_attach(&memory, &runtime, ret);
	if (reason != REASON_OBSERVED)
		return reason;
	(*ret)->start_ticks = start_ticks;
	(*ret)->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (alive_start_ticks(pid) == start_ticks)
		return REASON_OBSERVED;
	python_close(*ret);
	*ret = NULL;
	return REASON_GONE;
}

void python_close(struct python *python)
{
	if (!python)
		return;
	if (python->pidfd >= 0)
		close(python->pidfd);
	code_done(&python->codes);
	free(python);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - finds the pipeline stage that the training waits for, and why it is slow.
 *
 * Stages run in parallel and ahead, so a busy stage need not be the one that is waited for. The
 * search starts at the root, which the training calls. As long as a stage spends its time waiting
 * for its input, the search goes down to the input that takes the most time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of work that stages do. */
enum stage_kind {
	STAGE_READ,
	STAGE_DECODE,
	STAGE_TRANSFORM,
	STAGE_PYTHON, /* Python code of the user: a generator, or numpy_function */
	STAGE_BATCH,
	STAGE_SHUFFLE,
	STAGE_CACHE,
	STAGE_INTERLEAVE,
	STAGE_PREFETCH,
	STAGE_READER, /* a thread that reads ahead of the other stages */
	STAGE_OTHER,
	STAGE_KIND_MAX
};

/* Names in the database and in JSON. */
extern const char *const stage_kind_names[STAGE_KIND_MAX];

enum stage_kind stage_kind_of(const char *name, bool is_kernel);

/* Returns the kind with this name; STAGE_OTHER: no kind has it. */
enum stage_kind stage_kind_find(const char *name);

#define STAGE_NAME 64
#define STAGE_NOWHERE SIZE_MAX

/* What one stage or kernel did, summed over the run. -1 and NAN: unknown. */
struct stage_work {
	int64_t id;
	char name[STAGE_NAME];
	enum stage_kind kind;
	bool is_kernel; /* an operation that a stage runs for each element */
	bool is_root;
	bool is_autotuned; /* the framework chooses `parallel` and `capacity` itself */
	size_t parent;     /* index of the stage that takes the elements, or runs the kernel */
	int32_t parallel, capacity, threads;
	double elements;
	double busy_ns, own_ns; /* time of its calls in all threads; own_ns: without inner stages */
	double cpu_ns, read_ns; /* parts of own_ns: time on a CPU, time reading files */
	double queue;           /* mean number of elements ready when the stage was called */
};

struct stages {
	struct stage_work *list;
	size_t count;
	double span_ns; /* how long the stages were observed, in all */
	bool is_later;  /* sums leave out the first epoch, which filled a cache */
};

enum stage_limit {
	STAGE_LIMIT_UNKNOWN, /* no stage explains the waiting */
	STAGE_LIMIT_WORK,
	STAGE_LIMIT_POOL, /* all threads of the pool wait in calls; the program allows more calls */
	STAGE_LIMIT_SERIAL,
	STAGE_LIMIT_PREFETCH,
	STAGE_LIMIT_FILLING, /* the first epoch fills a cache, and later epochs hardly wait */
	STAGE_LIMIT_MAX
};

struct stages_facts {
	double wait_ns, step_ns;
	double cores, free_cores; /* all cores; cores not used by other programs; NAN: unknown */
	double used_cores;
	double longest_epoch; /* share of all batches that the longest epoch has */
	double first_ns, later_ns; /* mean wait of a batch in the first epoch, and in all others */
};

enum stages_maker {
	STAGES_TFDATA,
	STAGES_DALI, /* operators run one after the other; one thread reads */
};

/* A predicted gain: 0.1 is 10 % more batches a second. NAN: the change does not apply. */
struct stage_gain {
	double gain, low, high;
};

struct stage_finding {
	enum stage_limit limit;
	enum stages_maker maker;
	double callback_share; /* share of the waiting in which the training's thread ran Python */
	size_t slow; /* index of the stage that the training waits for */
	size_t lead; /* index of the stage's longest kernel, or `slow`; STAGE_NOWHERE: none */
	size_t opener; /* index of the interleave above `slow`, if sequential; else STAGE_NOWHERE */
	double lead_share; /* share of `lead` in the time of all kernels, or in that of the stage */
	double each_ns;
	/* share of its time that `lead` was off the CPU; for Python code, a lower bound */
	double blocked_share;
	double at_once; /* mean number of calls under way while the training waits for the stage */
	bool is_reading; /* `lead` spends its time reading files */
	bool is_overhead; /* `lead` is `slow`: calling its short function takes the time */
	bool is_waiting; /* is_reading is true, or `lead` is Python that waits, not for the GIL */
	bool is_interleaved; /* `slow` runs in the threads of an interleave with several inputs */
	bool is_prefetched;
	/* index of a useless cache above `slow`, or of one being filled; STAGE_NOWHERE: none */
	size_t cache;
	bool is_served; /* a cache serves later epochs, which wait for another thing than `slow` */
	size_t endless; /* index of an endless repeat() that feeds the cache; STAGE_NOWHERE: none */
	double first_ns, later_ns; /* as in struct stages_facts */
	int32_t asked;   /* number of parallel calls that the program asks for; -1: unknown */
	int32_t threads; /* number of the pool's threads; -1: unknown */
	int32_t wanted;  /* number of threads, or of parallel calls, to advise */
	struct stage_gain own_threads, parallel, prefetch, cheaper, cached, kept;
};

void stages_judge(const struct stages *stages, const struct stages_facts *facts,
		  struct stage_finding *ret);

void stages_done(struct stages *stages);

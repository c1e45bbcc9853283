/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - which stage of a loader's pipeline the training waits for, why, and what would help.
 *
 * Stages run beside each other and ahead of the training, so a busy stage need not be the one that
 * the training waits for. The search starts at the root, which the training calls, goes down to the
 * input that takes most of its taker's time, and ends at the stage whose time no input explains. A
 * stage's calls take the time of its kernels, divided by how many of these run at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/stage_kind.h"

#define STAGE_NAME 64
#define STAGE_NOWHERE SIZE_MAX /* index of no stage */

/* Sums over one stage or kernel of a loader. -1 and NAN: not known. */
struct stage_work {
	char name[STAGE_NAME];
	enum stage_kind kind;
	bool is_kernel; /* true: an operation that a stage calls for an element */
	bool is_root;
	bool is_autotuned; /* the framework sets `parallel` and `capacity` itself */
	size_t parent;     /* the stage that takes the elements, or calls the kernel; or
			    * STAGE_NOWHERE */
	int32_t parallel, capacity, threads;
	double elements;
	double busy_ns, own_ns;	/* time in calls, over all threads; own: without inner calls */
	double cpu_ns, read_ns;	/* parts of own_ns */
	double queue;        /* mean number of elements that were ready when the stage was called */
};

struct stages {
	struct stage_work *list;
	size_t count;
	double span_ns; /* sum of the windows in which the stages were observed */
};

enum stage_limit {
	STAGE_LIMIT_UNKNOWN,  /* no stage explains the waiting */
	STAGE_LIMIT_WORK,     /* the stage's own work takes long */
	STAGE_LIMIT_POOL, /* calls wait in all threads of the pool, and the program asks for more */
	STAGE_LIMIT_SERIAL,   /* the stage's calls come one after the other */
	STAGE_LIMIT_PREFETCH, /* nothing is loaded while the training computes */
	STAGE_LIMIT_MAX
};

/* Facts about the run beside its stages. */
struct stages_facts {
	double wait_ns, step_ns; /* means of a batch */
	double cores, free_cores; /* all cores; those that others leave; NAN: not known */
	double used_cores;       /* cores that the training's process used; NAN: not known */
};

/* The framework that made the stages. */
enum stages_maker {
	STAGES_TFDATA,
	STAGES_DALI, /* an executor runs all operators in turn; its reader has one thread */
};

/* Gain in batches a second relative to the run: 0.1 is 10 %. NAN: does not apply. */
struct stage_gain {
	double gain, low, high;
};

struct stage_finding {
	enum stage_limit limit;
	enum stages_maker maker;
	double callback_share; /* share of the waiting in Python that the training's thread runs */
	size_t slow;          /* index of the stage that the training waits for */
	size_t lead;  /* index of its largest kernel, or of the stage itself; STAGE_NOWHERE: none */
	size_t opener;        /* index of a sequential interleave around it; STAGE_NOWHERE: none */
	double lead_share;    /* share of `lead` in the time of all kernels, or of the stage */
	double each_ns;       /* mean time of a call of `lead` */
	double blocked_share; /* share of the time of `lead` without a CPU */
	double at_once;  /* mean number of calls under way while the training waits for the stage */
	bool is_reading;      /* `lead` waits for files */
	bool is_interleaved;  /* the stage runs in threads of an interleave with several inputs */
	bool is_prefetched;   /* a stage loads ahead of the training */
	int32_t asked;        /* parallel calls that the program sets; -1: unknown */
	int32_t threads;      /* number of threads of the pool; -1: unknown */
	int32_t wanted;       /* number of threads, or parallel calls, to advise */
	struct stage_gain own_threads, parallel, prefetch, cheaper;
};

void stages_judge(const struct stages *stages, const struct stages_facts *facts,
		  struct stage_finding *ret);

void stages_done(struct stages *stages);

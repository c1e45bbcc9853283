/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stages.h - which stage of a loader's pipeline the training waits for, why, and what would help.
 *
 * Stages run beside each other and ahead of the training, so a stage that is busy need not be the
 * one that is waited for. The search starts at the root, which the training asks, goes down to the
 * input that takes most of its taker's time, and ends at the stage whose time no input explains. A
 * stage's calls take what its kernels take, divided by how many of these run at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/stage_kind.h"

#define STAGE_NAME 64
#define STAGE_NOWHERE SIZE_MAX /* a place in the list that is none */

/* Sums of one stage or kernel of a loader. -1 and NAN: not known. */
struct stage_work {
	char name[STAGE_NAME];
	enum stage_kind kind;
	bool is_kernel; /* an operation that a stage calls for an element */
	bool is_root;
	bool is_autotuned; /* the framework sets `parallel` and `capacity` itself */
	size_t parent;     /* the stage that takes its elements, or calls it; or STAGE_NOWHERE */
	int32_t parallel, capacity, threads;
	double elements;
	double busy_ns, own_ns;	/* time in its calls, over all threads; own: without calls within */
	double cpu_ns, read_ns;	/* parts of own_ns */
	double queue;		/* mean number of elements that were ready when it was asked */
};

struct stages {
	struct stage_work *list;
	size_t count;
	double span_ns; /* the sum of the windows */
};

enum stage_limit {
	STAGE_LIMIT_UNKNOWN,  /* no stage explains the waiting */
	STAGE_LIMIT_WORK,     /* its own work takes long */
	STAGE_LIMIT_POOL,     /* calls wait in all threads of its pool, more are asked for */
	STAGE_LIMIT_SERIAL,   /* its calls come one after the other */
	STAGE_LIMIT_PREFETCH, /* nothing is loaded while the training computes */
	STAGE_LIMIT_MAX
};

/* What is known of the run beside its stages. */
struct stages_facts {
	double wait_ns, step_ns; /* mean of a batch */
	double cores, free_cores; /* all cores, and those that others leave; NAN: not known */
	double used_cores;       /* used by the training's process; NAN: not known */
};

/* The framework that made the stages. */
enum stages_maker {
	STAGES_TFDATA,
	STAGES_DALI, /* an executor runs all operators in turn; a reader has one thread */
};

/* Relative gain in batches a second; NAN: does not apply. */
struct stage_gain {
	double gain, low, high;
};

struct stage_finding {
	enum stage_limit limit;
	enum stages_maker maker;
	double callback_share; /* share of the waiting in Python of the training's own thread */
	size_t slow;          /* place of the stage that is waited for */
	size_t lead;          /* place of its largest kernel, or its own; STAGE_NOWHERE */
	size_t opener;        /* the sequential interleave around it; STAGE_NOWHERE: none */
	double lead_share;    /* lead's share of all kernels' time, or of its own stage's */
	double each_ns;       /* mean time of a call of `lead` */
	double blocked_share; /* share of lead's time that is not on a CPU */
	double at_once;       /* calls of its kernels under way while it is waited for */
	bool is_reading;      /* lead waits for files */
	bool is_interleaved;  /* it runs in the threads of an interleave that has several */
	bool is_prefetched;   /* something is loaded ahead of the training */
	int32_t asked;        /* parallel calls that the program asks for; -1: unknown */
	int32_t threads;      /* threads of the pool; -1: unknown */
	int32_t wanted;       /* threads, or parallel calls, that the advice is about */
	struct stage_gain own_threads, parallel, prefetch, cheaper;
};

void stages_judge(const struct stages *stages, const struct stages_facts *facts,
		  struct stage_finding *ret);

void stages_done(struct stages *stages);

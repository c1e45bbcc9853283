/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - what is found of a judged run: why it waits (cause.h), what helps (advice.h). */
#pragma once

#include "analysis/account/boot.h"
#include "analysis/account/load.h"
#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/cause/slow.h"
#include "analysis/cause/split.h"
#include "analysis/cause/stages.h"
#include "analysis/gpu/gpu_use.h"
#include "analysis/period/period.h"
#include "analysis/predict/whatif.h"

enum cause {
	CAUSE_UNKNOWN, /* no verdict */
#define CAUSE(constant, ...) CAUSE_##constant,
#include "analysis/cause/causes.def"
#undef CAUSE
	CAUSE_MAX
};

struct cause_cost {
	enum cause cause;
	double ns;
	double share; /* share of the account's time */
};

enum advice_id {
#define ADVICE(constant, ...) ADVICE_##constant,
#include "analysis/cause/remedies.def"
#undef ADVICE
	ADVICE_MAX
};

/* Why something that people try would not help. */
enum useless {
	USELESS_LOADING_IS_NO_LIMIT, /* the training does not wait for data */
	USELESS_CORES_ARE_USED,
	USELESS_WORKERS_NEVER_IDLE, /* a longer queue would stay as empty */
	USELESS_NOTHING_BEHIND,     /* no finished batch stands behind an unfinished one */
	USELESS_OTHER_LIMIT,        /* the replay shows no gain */
	USELESS_MAX
};

#define ADVICE_MOST 3
#define ADVICE_GAIN 0.05 /* advice that brings less is not given */

/* Gains are over the run as it was: 0.1 is 10 % more batches a second. */
struct advice {
	enum advice_id id;
	int whatif;       /* the prediction whose gain this is; -1: none */
	double gain;      /* predicted; NAN: not known */
	double low, high; /* 95 % range of the gain; NAN: not known */
	bool is_ideal; /* the gain is that of ideal input, which is an upper bound */
};

struct advice_list {
	struct advice steps[ADVICE_MOST];
	size_t count;
	struct {
		enum whatif_id id;
		enum useless why;
	} useless[WHATIF_MAX];
	size_t useless_count;
};

/* See grounds.h. NAN, 0 and false: not observed. */
struct grounds {
	int32_t loading; /* workers that load; -1: not known */
	struct {
		size_t count;
		double share;            /* share of the time of all loads */
		double each_ns, mean_ns; /* mean time of a slow sample, and of any */
		double asleep_share;     /* share of the loads' time spent in sleep() */
	} samples;
	struct grounds_growth {
		bool found;
		double first_ns, last_ns; /* mean loads of first and last quarter; 0: too few */
	} growth;
	struct {
		double count;     /* descriptors in a batch */
		double each_ns;   /* how long asking for one takes */
		double share;     /* share of receiving */
		double cpu_share; /* share of that time on the training's own CPU */
	} fetch;
	struct {
		bool found;
		char name[16];       /* name of the thread; empty: not known */
		double cpu_ns;       /* CPU time of the thread; NAN: not known */
		double share;        /* share of waits in which it held the interpreter; or NAN */
		bool is_line;        /* its line of code is known */
	} holder;
	struct {
		size_t first, last; /* batches at the begin, or at the end, that did not wait */
	} calm;
	double threads;        /* threads in all workers that run or want to; NAN: not too many */
	double cores_allowed;  /* cores allowed to the workers, if few; else NAN */
	double loading_share;  /* share of a worker's time that it spends on loads */
	double shared_per_s;   /* batches a second that all workers get; NAN: no such limit */
	double lock_share;     /* share of the loads' time, waiting for a lock */
	double asked_share;    /* share of the loads' time, waiting for a process or machine */
	double unseen_share;   /* share of the loads' time off the CPU and in no seen call */
	bool is_crowded;       /* twice as many workers as cores, which mostly wait for one */
	double storage_share;  /* share of the loads' time, opening and reading files */
	double cpu_share;      /* share of the loads' time, on a CPU */
	double no_core_share;  /* share of the loads' time, ready to run without a core; or 0 */
	double read_again;     /* bytes read or inflated for each byte of a batch */
	double decoded_again;  /* bytes of decoded images (3 a pixel) for each byte of a batch */
	bool is_decoded_by_all; /* each worker decodes all samples of the stream */
	bool is_managed;       /* half of the loads' time or more is asking a Manager */
	double tensors;        /* tensors in a batch */
	bool is_memory_short;
	const struct load_facts *facts; /* the facts behind all of this; NULL: not known */
};

struct diagnosis {
	enum cause cause;
	enum cause second; /* named beside the first; CAUSE_UNKNOWN: none */
	struct cause_cost causes[CAUSE_MAX];
	size_t cause_count; /* 0: there is nothing to name */
	struct period wait, compute, load;
	struct timer wait_timer, compute_timer;
	double compute_share; /* share of all time that the periodic long steps cost */
	bool steps_only;      /* `compute` is of whole steps: nothing else is known */
	struct slow_workers slow;
	struct cold cold;
	struct shift shift;
	double cpu_share;    /* share of the cores that the workers use; NAN: unknown */
	double queued_share; /* share of the waiting while other batches were ready */
	struct whatif whatif;
	struct boot boot;
	struct advice_list advice;
	struct grounds grounds;
	struct stage_finding stages; /* only of a loader that is made of stages */
};

struct lines; /* lines.h */

/* Settings that not every loader has. */
enum loader_option {
	OPTION_PREFETCH = 1 << 0,   /* how far to load ahead */
	OPTION_PERSISTENT = 1 << 1, /* workers that stay from epoch to epoch */
	OPTION_SHARING = 1 << 2,    /* tensors by files */
	OPTION_ALL = OPTION_PREFETCH | OPTION_PERSISTENT | OPTION_SHARING,
};

/* One of the slowest samples: its longest time, and how often it was among the slowest. */
struct slow_sample {
	double ns, count;
};

/* What is known beside the series; NULL: not known. */
struct cause_input {
	const struct gpu_use *gpu;      /* what the GPU's time went to */
	const struct load_times *loads; /* what the loads' time went to */
	const struct slow_work *work;   /* what each worker read */
	const struct load_facts *facts; /* what loads wait for */
	const struct flight *flight;    /* whether what loads wait for is shared */
	const struct stages *stages; /* what the loader is made of */
	const struct lines *lines; /* lines of code that lead */
	const struct step_parts *step; /* what the steps' time went to */
	const struct slow_sample *samples;
	size_t sample_count;
	unsigned lacks;  /* bits of enum loader_option: what its user cannot set */
	bool is_threads; /* its workers are threads of the training's process */
	bool has_gpu;    /* a GPU is used, for which a line of the training may only wait */
};

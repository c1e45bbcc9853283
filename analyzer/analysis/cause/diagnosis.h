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
	double share; /* of the account's time */
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
#define ADVICE_GAIN 0.05 /* what brings less is no advice */

/* Gains are over the run as it was: 0.1 is 10 % more batches a second. */
struct advice {
	enum advice_id id;
	int whatif;       /* the prediction whose gain this is; -1: none */
	double gain;      /* predicted; NAN: nobody can say */
	double low, high; /* where it would fall 19 times out of 20; NAN: not known */
	bool is_ideal; /* the gain is that of ideal input, and how much of it is not known */
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
		double share;            /* of the time of all loads */
		double each_ns, mean_ns; /* of one of them, and of a sample */
		double asleep_share;     /* of the time of all loads */
	} samples;
	struct grounds_growth {
		bool found;
		double first_ns, last_ns; /* mean loads of the first and last quarter; 0: few */
	} growth;
	struct {
		double count;     /* descriptors, a batch */
		double each_ns;   /* how long asking for one takes */
		double share;     /* of receiving */
		double cpu_share; /* of that time: the training's own CPU */
	} fetch;
	struct {
		bool found;
		char name[16];       /* of the thread; empty: not known */
		double cpu_ns;       /* that it used; NAN */
		double share;        /* of the waits: it held the interpreter; NAN */
		bool is_line;        /* its line of code is known */
	} holder;
	struct {
		size_t first, last; /* so many batches at the begin, or at the end, did not wait */
	} calm;
	double threads;        /* of all workers together, that run or want to */
	double cores_allowed;  /* to the workers, where that is little; NAN: it is not */
	double loading_share;  /* of a worker's time, that it makes loads */
	double shared_per_s;   /* batches a second that all workers get; NAN: no such limit */
	double lock_share;     /* of the loads' time */
	double asked_share;    /* of the loads' time, waiting for another process or machine */
	double unseen_share;   /* of it neither on a CPU nor in a call that was seen */
	bool is_crowded;       /* the workers want twice the cores, and wait for one mostly */
	double storage_share;  /* of it opening and reading files */
	double cpu_share;      /* of the loads' time, on a CPU */
	double no_core_share;  /* ... and ready to run, without a core; 0: not known */
	double read_again;     /* bytes read or inflated for each byte of a batch */
	double decoded_again;  /* the same of images, three bytes a pixel */
	bool is_decoded_by_all; /* each worker decodes all samples of the stream */
	bool is_managed;       /* half of it or more is asking, and who is asked is a Manager */
	double tensors;        /* in a batch */
	bool is_memory_short;
	const struct load_facts *facts; /* what all of this is of; NULL: not known */
};

struct diagnosis {
	enum cause cause;
	enum cause second; /* named beside the first; CAUSE_UNKNOWN: none */
	struct cause_cost causes[CAUSE_MAX];
	size_t cause_count; /* 0: there is nothing to name */
	struct period wait, compute, load;
	struct timer wait_timer, compute_timer;
	double compute_share; /* of all time: cost of the periodic long steps */
	bool steps_only;      /* `compute` is of whole steps: nothing else is known */
	struct slow_workers slow;
	struct cold cold;
	struct shift shift;
	double cpu_share;    /* of the cores: used by workers; NAN: unknown */
	double queued_share; /* of the waiting: while other batches were ready */
	struct whatif whatif;
	struct boot boot;
	struct advice_list advice;
	struct grounds grounds;
	struct stage_finding stages; /* of a loader that is made of such */
};

struct lines; /* lines.h */

/* One of the slowest samples: at its slowest, and how often it was among the slowest. */
struct slow_sample {
	double ns, count;
};

/* What is known beside the series; NULL: not known. */
struct cause_input {
	const struct gpu_use *gpu;      /* what the GPU's time went to */
	const struct load_times *loads; /* what the loads' time went to */
	const struct slow_work *work;   /* what each worker read */
	const struct load_facts *facts; /* what loads wait for */
	const struct flight *flight;    /* whether it is shared */
	const struct stages *stages; /* what the loader is made of */
	const struct lines *lines; /* of code, that lead */
	const struct step_parts *step; /* what the steps' time went to */
	const struct slow_sample *samples;
	size_t sample_count;
	bool is_foreign; /* the loader is known not to be PyTorch's */
	bool has_gpu;    /* a line of the training may only wait for it */
};

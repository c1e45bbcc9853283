/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - the result of analysing a run: why it waits (cause.h), and what would help. */
#pragma once

#include "analysis/account/boot.h"
#include "analysis/account/load.h"
#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/cause/growth.h"
#include "analysis/cause/skipped.h"
#include "analysis/cause/slow.h"
#include "analysis/cause/stages.h"
#include "analysis/cause/uneven.h"
#include "analysis/gpu/gpu_use.h"
#include "analysis/period/period.h"
#include "analysis/predict/flight.h"
#include "analysis/predict/whatif.h"

enum cause {
	CAUSE_UNKNOWN, /* the run has no verdict */
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

enum useless {
	USELESS_LOADING_IS_NO_LIMIT,
	USELESS_CORES_ARE_USED,
	USELESS_WORKERS_NEVER_IDLE, /* no worker ever idles, so a longer queue would not fill */
	USELESS_NOTHING_BEHIND,     /* no later batch is finished while the training waits */
	USELESS_OTHER_LIMIT,        /* the replay shows no gain, for a reason not listed here */
	USELESS_MAX
};

#define CPU_FULL 0.85 /* the cores are used up if loads use at least this share of them */

#define ADVICE_MOST 3
#define ADVICE_GAIN 0.05

/* Gains are relative to the run's throughput: 0.1 is 10 % more batches a second. */
struct advice {
	enum advice_id id;
	int whatif;       /* prediction that gave the gain, as enum whatif_id; -1: none */
	double gain;      /* NAN: unknown */
	double low, high; /* 95 % range of the gain; NAN: unknown */
	bool is_ideal;    /* the gain is an upper bound, as if no time were spent waiting */
	bool is_open;     /* `high` is the gain of loads without their longest function */
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

/* How long other threads held the interpreter in steps, as shares of the steps' time. */
struct steps_held {
	double share, error; /* share 0: too little to be a cause */
	double least;        /* share in which the training surely waited for another thread */
};

/* Observations that decide between causes (grounds.h). NAN, 0 and false: not observed. */
struct grounds {
	int32_t loading; /* workers that loaded batches; -1: unknown */
	struct {
		size_t count;
		double share;            /* share of the loads' time that slow samples take */
		double each_ns, mean_ns; /* mean time of a slow sample, and of all samples */
		double asleep_share;     /* share of the loads' time spent in sleep() */
	} samples;
	struct growth growth, step_growth; /* growth of loads, and of steps */
	struct {
		double count; /* file descriptors of a batch's tensors, fetched from its worker */
		double each_ns;
		double share;     /* share of the receiving time that fetching them takes */
		double cpu_share; /* share of fetching in which the training used a CPU */
	} fetch;
	struct {
		bool found;
		char name[16];
		double cpu_ns; /* CPU time of the thread that holds the interpreter; NAN: unknown */
		double share;  /* share of waits in which the holder had the GIL; NAN: unknown */
		bool is_line;  /* stack samples show what line of code the holder was in */
	} holder;
	struct steps_held steps_held;
	struct {
		double count, each_ns;
	} small; /* samples of a batch that are small and made one by one; count 0: none */
	/* bytes of a batch for each byte of its images, if it is blown up in the load; else 0 */
	double blown_up;
	bool is_own_code; /* loads compute, half of their time in one of the user's functions */
	struct {
		size_t first, last; /* how many batches hardly wait at the run's start, and end */
	} calm;
	double threads;       /* number of all workers' runnable threads, if too many; else NAN */
	double cores_allowed; /* number of cores that workers may use, if too few; else NAN */
	double cores_there;   /* number of cores that the training may use, or could at its start */
	double loading_share;
	double shared_per_s; /* batches a second at which all workers meet a limit; NAN: no limit */
	double lock_share, thread_share; /* shares of loads' time: waiting for locks, for threads */
	bool has_inner;     /* loads mostly wait for another loader of their process */
	bool is_left_early; /* epochs end by `break`, and most of what was loaded ahead is lost */
	double asked_share; /* share of the loads' time waiting for another process or machine */
	double piped_share; /* share of the loads' time waiting for a pipe or a program */
	double sync_share;
	double fault_share; /* share of the loads' time waiting for pages of mapped files */
	double write_share; /* share of the loads' time waiting to write to a pipe or terminal that
			     * all workers seem to share; 0: too little to matter */
	bool starts_programs; /* loads start programs, which use a good part of a core */
	/* workers take turns at one pipe: they wait for its lock (get() of a queue) or its data */
	bool takes_turns;
	/* loads wait for a pipe or a program, and whatever is at its other end hardly computes */
	bool is_other_end_idle;
	/* loads wait for an answer by a pipe, and a helper process needs nearly a whole core */
	bool is_helper_busy;
	double unseen_share;
	bool is_crowded;      /* at least two workers for each core, and loads mostly off the CPU */
	double storage_share; /* share of the loads' time spent opening and reading files */
	double cpu_share;
	double fixed_share; /* load_facts.fixed_ns / load_ns; 0: unknown */
	double no_core_share;
	double read_again;      /* bytes read, inflated or received for each byte of a batch */
	/* bytes received for each byte of a batch, if loads wait for too many of them; else 0 */
	double received_again;
	double received_share; /* share of the loads' time waiting for bytes from other machines */
	double decoded_again;   /* bytes of decoded images (3 a pixel) for each byte of a batch */
	double drawn;           /* images decoded for each sample, if some seem needless; else 0 */
	bool is_decoded_by_all; /* each worker decodes all samples of an iterable dataset */
	bool is_opened_by_all;  /* each worker opens all files of an iterable dataset */
	/* share of the loads' time making connections or readers that could be kept; 0: little */
	double making_share, making_error;
	/* share of the time before backward passes spent compiling models again; 0: little */
	double compiling_share;
	bool is_managed;        /* loads wait for a Manager for half of their time or more */
	double tensors;
	bool is_memory_short;
	const struct load_facts *facts; /* the facts that were looked at; NULL: there were none */
};

/* Compares the first epoch with the later epochs. NAN: there is only one epoch. */
struct cold {
	double first_load_ns, later_load_ns;
	double first_ratio, later_ratio; /* share of the time spent waiting for batches not ready */
	double excess_ns; /* time by which the first epoch's loads exceed as many later loads */
	double owned_ns; /* waits that it owns (split.h); 0: the first epoch is not cold */
};

/* Loads take longer from one batch on, as when a storage's burst credit is used up. */
struct shift {
	size_t at; /* first batch with longer loads; 0: there is no shift */
	double before_ns, after_ns;
};

struct diagnosis {
	enum cause cause;
	enum cause second; /* cause reported beside the first one; CAUSE_UNKNOWN: none */
	struct cause_cost causes[CAUSE_MAX];
	size_t cause_count; /* 0: no cause costs enough to be reported */
	struct period wait, compute, load;
	int64_t burst;    /* number of batches that the training takes at once; 0: one */
	int64_t gathered; /* `burst`, if a step puts these batches together; 0: it does not */
	struct timer wait_timer, compute_timer;
	double compute_share; /* share of all time by which periodic long steps lengthen the run */
	bool steps_only;      /* `compute` is of wait + compute, as neither is known alone */
	struct slow_workers slow;
	struct uneven uneven;
	struct skipped skipped;
	struct passes passes;
	struct cold cold;
	struct shift shift;
	double cpu_share;         /* share of the cores' time that the workers use; NAN: unknown */
	double start_sampling_ns; /* time of choosing samples at epoch starts; 0: not a cause */
	double queued_share; /* share of the waiting while later batches were ready; NAN: unknown */
	struct whatif whatif;
	struct boot boot;
	struct advice_list advice;
	struct grounds grounds;
	struct stage_finding stages; /* empty unless the loader is made of stages */
};

struct lines;

/* Settings that not every loader has. */
enum loader_option {
	OPTION_PREFETCH = 1 << 0,   /* how many batches to load ahead */
	OPTION_PERSISTENT = 1 << 1, /* workers that stay from one epoch to the next */
	OPTION_SHARING = 1 << 2,    /* sending tensors through files */
	OPTION_SAMPLER = 1 << 3,    /* a sampler of whole batches, and none is in use yet */
	OPTION_ALL = OPTION_PREFETCH | OPTION_PERSISTENT | OPTION_SHARING | OPTION_SAMPLER,
};

/* A sample of the dataset: its longest load, and how often it was among the slowest samples. */
struct slow_sample {
	double ns, count;
};

/* What is known apart from the batches. A member is NULL if it was not recorded. */
struct cause_input {
	int64_t batch_size; /* the loader's batch size; 0: unknown, or it hands out samples */
	const struct gpu_use *gpu;
	const struct load_times *loads;
	const struct slow_work *work;
	const struct load_facts *facts;
	const struct flight *flight;
	const struct stages *stages;
	const struct lines *lines;
	const struct step_parts *step;
	const struct slow_sample *samples;
	size_t sample_count;
	unsigned lacks; /* settings that the loader does not have: bits of enum loader_option */
	bool is_threads;
	bool has_gpu; /* a GPU is used, so a line of code may only be waiting for it */
	bool has_inner; /* the loads mostly wait for another loader of their process */
	bool is_bare; /* no advice is given; only settings that decide on a cause are replayed */
};

/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - the result of analysing a run: why it waits (cause.h), and what would help. */
#pragma once

#include "analysis/account/boot.h"
#include "analysis/account/load.h"
#include "analysis/account/load_facts.h"
#include "analysis/account/stall.h"
#include "analysis/account/step_parts.h"
#include "analysis/cause/skipped.h"
#include "analysis/cause/slow.h"
#include "analysis/cause/split.h"
#include "analysis/cause/stages.h"
#include "analysis/cause/uneven.h"
#include "analysis/gpu/gpu_use.h"
#include "analysis/period/period.h"
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
	USELESS_OTHER_LIMIT,        /* the replay shows no gain for another reason */
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
	bool is_ideal;    /* the gain is an upper bound: of no waits, or of no epoch starts */
	bool is_open;     /* `high` is the gain without the loads' leading function */
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
	int32_t loading; /* workers that loaded batches; -1: unknown */
	struct {
		size_t count;
		double share;            /* share of the loads' time that slow samples take */
		double each_ns, mean_ns; /* mean time of a slow sample, and of all samples */
		double asleep_share;     /* share of the loads' time spent in sleep() */
	} samples;
	struct grounds_growth {
		bool found;
		bool in_epoch; /* loads grow in the course of each epoch, and start short again */
		/* mean load in the first and last quarter; 0: too few loads */
		double first_ns, last_ns;
	} growth;
	struct {
		double count; /* descriptors in a batch */
		double each_ns;
		double share;     /* share of the receiving time spent fetching descriptors */
		double cpu_share; /* share of fetching in which the training's process used a CPU */
	} fetch;
	struct {
		bool found;
		char name[16];
		double cpu_ns; /* CPU time of the thread that holds the interpreter; NAN: unknown */
		double share;  /* share of the waits in which it held the interpreter, or NAN */
		bool is_line;  /* stack samples show the thread's line of code */
	} holder;
	bool is_own_code; /* loads compute, half of their time in one of the user's functions */
	struct {
		size_t first, last; /* batches without waits at the run's start, or at its end */
	} calm;
	double threads;       /* runnable threads of all workers, if too many; else NAN */
	double cores_allowed; /* cores that the workers may use, if too few; else NAN */
	double cores_there;   /* cores that the training may use, or could at its start */
	double loading_share;
	double shared_per_s; /* limit on batches a second of all workers; NAN: none found */
	double lock_share;
	double asked_share; /* share of the loads' time waiting for another process or machine */
	double piped_share; /* share of the loads' time waiting for a pipe or a program */
	double sync_share;
	double fault_share; /* share of the loads' time waiting for pages of mapped files */
	double write_share; /* share of the loads' time waiting to write to one pipe or terminal,
			     * which all workers seem to share; 0: less than matters */
	bool starts_programs; /* loads start programs, which use a good part of a core */
	/* loads wait for pipes, and a process of the training needs nearly all of a core */
	bool is_helper_busy;
	double unseen_share;
	bool is_crowded;      /* twice as many workers as cores, and loads mostly off the CPU */
	double storage_share; /* share of the loads' time spent opening and reading files */
	double cpu_share;
	double no_core_share;
	double read_again;      /* bytes read or inflated for each byte of a batch */
	double decoded_again;   /* bytes of decoded images (3 a pixel) for each byte of a batch */
	double drawn;           /* images decoded for each sample, if some seem needless; else 0 */
	bool is_decoded_by_all; /* each worker decodes all samples of the stream */
	bool is_opened_by_all;  /* each worker opens the same files of a stream in each epoch */
	/* share of the loads' time that makes connections or readers to keep; 0: too little */
	double making_share;
	bool is_managed;        /* at least half of the loads' time waits for a Manager */
	double tensors;
	bool is_memory_short;
	const struct load_facts *facts; /* facts used for the members above; NULL: unknown */
};

struct diagnosis {
	enum cause cause;
	enum cause second; /* reported beside the first cause; CAUSE_UNKNOWN: none */
	struct cause_cost causes[CAUSE_MAX];
	size_t cause_count; /* 0: no cause costs enough to be reported */
	struct period wait, compute, load;
	struct timer wait_timer, compute_timer;
	double compute_share; /* share of all time that the periodic long steps cost */
	bool steps_only;      /* `compute` was found in wait + compute, which are not known apart */
	struct slow_workers slow;
	struct uneven uneven;
	struct skipped skipped;
	struct cold cold;
	struct shift shift;
	double cpu_share;         /* share of the cores' time that the workers use; NAN: unknown */
	double start_sampling_ns; /* time in which epoch starts chose samples; 0: not a cause */
	double queued_share;      /* share of the waiting during which other batches were ready */
	struct whatif whatif;
	struct boot boot;
	struct advice_list advice;
	struct grounds grounds;
	struct stage_finding stages; /* found only for a loader that is made of stages */
};

struct lines;

/* Settings that some loaders lack. */
enum loader_option {
	OPTION_PREFETCH = 1 << 0,   /* how many batches to load ahead */
	OPTION_PERSISTENT = 1 << 1, /* workers that stay from one epoch to the next */
	OPTION_SHARING = 1 << 2,    /* sending tensors through files */
	OPTION_ALL = OPTION_PREFETCH | OPTION_PERSISTENT | OPTION_SHARING,
};

/* A sample's longest load in ns, and how often it was among the slowest. */
struct slow_sample {
	double ns, count;
};

/* NULL: unknown. */
struct cause_input {
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
	unsigned lacks; /* bits of enum loader_option */
	bool is_threads;
	bool has_gpu; /* a GPU is used, so a line of code may only be waiting for it */
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - finds the lines of code that take the most time in loads, waits and steps.
 *
 * A stack sample counts for its innermost line in the user's own files. If it has none there, it
 * counts for its innermost line. A phase is what the thread was doing when it was sampled.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cause/diagnosis.h"

/* X(identifier, name in the database, group) */
#define LINE_PHASES(X)                                                                             \
	X(LOAD, "load", LOADS)                                                                     \
	X(NOT_READY, "not_ready", WAITS)                                                           \
	X(RECEIVING, "receiving", WAITS)                                                           \
	X(SAMPLING, "sampling", WAITS)                                                             \
	X(EPOCH_START, "epoch_start", WAITS)                                                       \
	X(EPOCH_END, "epoch_end", WAITS)                                                           \
	X(BEFORE, "before", STEPS)                                                                 \
	X(AFTER, "after", AFTERS)                                                                  \
	X(GAP, "between_epochs", AFTERS) /* of any loader */                                       \
	X(SAVE, "save", SAVES)                                                                     \
	X(STEP, "step", STEPS) /* rest of a step, or a whole step */                              \
	X(OTHER, "other", REST)

/* X(identifier, name in the database) */
#define LINE_ROLES(X)                                                                              \
	X(MAIN, "main")     /* the thread that takes the batches */                                \
	X(WORKER, "worker") /* the main thread of a worker */                                      \
	X(THREAD, "thread") /* another thread, sampled while it held the interpreter */            \
	X(HOLDER, "holder") /* a THREAD for which the main thread waited in a step */              \
	X(PYTHON, "python") /* the main thread in a step, while it held the interpreter itself */

enum line_phase {
#define X(id, name, group) LINE_##id,
	LINE_PHASES(X)
#undef X
		LINE_PHASE_MAX
};

enum line_role {
#define X(id, name) LINE_ROLE_##id,
	LINE_ROLES(X)
#undef X
		LINE_ROLE_MAX
};

extern const char *const line_phase_names[LINE_PHASE_MAX];
extern const char *const line_role_names[LINE_ROLE_MAX];

/* A stack sample stands for the time since the thread's last one, limited to this range. */
#define LINE_LEAST_NS INT64_C(50000000)
#define LINE_MOST_NS  INT64_C(1000000000)

struct line_frame {
	char *file, *function; /* as shown in reports, which may be redacted */
	int64_t line;          /* 0: unknown */
	bool is_own;           /* the file is neither Python's nor an installed package's */
	bool is_iterator;
	/* set by lines_find(): the line calls a library that loops over batches, as fit() does */
	bool is_around;
	bool is_queue;  /* the function is get() of a multiprocessing queue */
	bool is_waiter; /* the function belongs to PyTorch's loader, or waits for it */
	unsigned does;  /* bits of enum line_does */
};

/* What a function does, as far as its name and file tell. */
enum line_does {
	LINE_SHARES = 1,      /* passes descriptors: multiprocessing.resource_sharer */
	LINE_CHOOSES = 2,     /* chooses samples, in PyTorch's loader */
	LINE_MAKES = 4,       /* makes an object or a connection: lines_is_maker() */
	LINE_GETS_ITEM = 8,   /* __getitem__(), which makes one sample or several */
	LINE_GETS_ITEMS = 16, /* __getitems__() of a dataset that makes whole batches */
	LINE_COMPILES = 32,   /* compiles a model for torch.compile() */
	LINE_WRAPS = 64,      /* only calls C code, whose time counts for the caller */
	LINE_GOES_BACK = 128, /* runs PyTorch's backward pass */
	LINE_FETCHES = 256,   /* asks a dataset for the samples of a batch, in PyTorch's loader */
	LINE_COLLATES = 512,  /* puts the samples of a batch together, as its name says */
	LINE_ITERATES = 1024, /* __next__() or __iter__() of an iterator, not of PyTorch's loader */
};

struct line_stack {
	enum line_role role;
	enum line_phase phase;
	int64_t loader_id; /* 0: unknown */
	int64_t count, ns;
	const uint32_t *frames; /* indexes in line_samples.frames, the innermost first */
	size_t depth;           /* at least 1 */
};

/* Returns true if a thread was sampled for its own sake, not because it held the interpreter. */
static inline bool lines_is_sampled(const struct line_stack *stack)
{
	return stack->role == LINE_ROLE_MAIN || stack->role == LINE_ROLE_WORKER;
}

struct line_samples {
	struct line_frame *frames;
	size_t frame_count;
	struct line_stack *stacks;
	size_t stack_count;
	uint32_t *places; /* the stacks' `frames` point into this array of indexes */
	int64_t *ids;
	char *reason; /* why stacks were not sampled; NULL: no reason is recorded */
};

/* Phases are summed in groups. STEPS includes AFTERS (after the optimizer) and SAVES (saving). */
enum line_group {
	LINE_LOADS,
	LINE_WAITS,
	LINE_STEPS,
	LINE_AFTERS,
	LINE_SAVES,
	LINE_REST,
	LINE_GROUP_MAX
};

/* The time of one line of code, with the time of the library functions that it calls. */
struct line_share {
	uint32_t frame; /* index in line_samples.frames */
	double ns;      /* time that stack samples of this line stand for */
	double share;
	double error;       /* half-width of the share's 95 % range */
	double of_function; /* share of the line's whole function; 0 from lines[LINE_SUMMED] on */
	double function_error;
	int64_t count;
	uint32_t inner;      /* innermost frame with most of the line's time; may be `frame` */
	double inner_share;  /* share of the line's time in `inner` */
	enum line_role role; /* kind of thread that spent most of the line's time */
	double gap_ns;       /* the line's time between epochs */
	bool is_loop;        /* the line mostly waits in a loop that calls the loader */
	bool is_waiter;
	bool is_own;
	bool is_wrapped;  /* `inner` only calls C (LINE_WRAPS) */
	bool is_collating;
	bool is_backward; /* most of the line's time passes in the backward pass (LINE_GOES_BACK) */
};

#define LINE_SUMMED 32

struct line_lead {
	struct line_share *lines; /* sorted: the line with the most time first */
	size_t count;
	int64_t samples;
	double ns; /* time that all samples stand for, of which `lines` have shares */
	bool has_gaps; /* some samples are from between epochs, which older databases lack */
};

/* The share of the time in which some frame of the stack does one thing of enum line_does. */
struct line_part {
	double share, error; /* NAN: too few samples */
	uint32_t frame;      /* the function with most of this time */
};

struct lines {
	/* NAN in the members before `groups`: too few stack samples. */
	double asking_share;   /* share of receiving spent asking workers for file descriptors */
	double most_sampling;  /* share of epoch starts spent choosing samples, plus its error */
	double least_sampling; /* share of epoch starts spent choosing samples, minus its error */
	/* share of loads spent making objects, and its error */
	double making_share, making_error;
	double single_share;   /* share of loads spent making samples one by one, minus its error */
	double compiling_share; /* share of compiling models in the time before backward passes */
	/* The part of the steps in which an iterator (PyTorch Geometric's, fastai's) took a batch
	 * from the loader and worked on it before it handed it to the training. To dlprof this is
	 * part of the step, since the loader has returned; to the training it is waiting. */
	struct line_part around;
	struct line_lead groups[LINE_GROUP_MAX];
	/* awaited_share: share of the steps in which the main thread waited for the interpreter; 0:
	 * none, or unknown. python_share: share of the time without another holder in which the
	 * main thread held the interpreter; NAN: unknown. */
	double awaited_share, python_share;
	/* Lines of threads that held the interpreter, as shares of the main thread's time. */
	struct line_lead holders[LINE_GROUP_MAX];
	/* Innermost lines of the loader's own code, while the main thread's loop waits for it. */
	struct line_lead within;
};

/* Returns the path below Python's own folder or a folder of packages; NULL: in no such folder. */
const char *lines_below_packages(const char *file);

/* A line with a larger share of the steps contains the whole step, and explains nothing. */
#define LINE_IS_STEP 0.9

/* Returns true if the phase is a step, or a part of one. */
bool lines_is_step(enum line_phase phase);

/* Returns true if the file is neither Python's nor an installed package's. */
bool lines_is_own(const char *file);

/* Returns a function's name without its class, which stacks of CPython 3.11 and newer have. */
const char *lines_bare_name(const char *function);

bool lines_is_same_function(const struct line_frame *a, const struct line_frame *b);

bool lines_is_iterator(const char *function);

/* Returns true if a function makes an object (as __init__()) or a connection (as connect()). */
bool lines_is_maker(const char *function);

/*
 * Returns how many samples of equal weight are as exact as `count` samples of total weight `ns`:
 * Kish's (sum w)^2 / sum w^2. Single weights w are unknown, but are in [l, m] = [LINE_LEAST_NS,
 * LINE_MOST_NS]. So sum w^2 is at most (l + m) sum w - count l m, which is used instead.
 */
double lines_effective_count(int64_t count, double ns);

/* Returns by how much a share may be wrong (Wilson's 95 % range), never 0. NAN: no samples. */
double lines_error(double share, double effective_count);

/* Chooses stack samples: of one group, and of one loader or (loader_id 0) of all loaders. */
struct line_filter {
	enum line_group group;
	int64_t loader_id;
	bool takes_unknown; /* also chooses samples whose loader is unknown */
};
struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group);
bool lines_passes(const struct line_filter *filter, const struct line_stack *stack);

/*
 * Finds the lines on which a loader's (0: all loaders') time is spent. Samples whose loader is
 * unknown count, too, if no other loader has samples in their group.
 */
int lines_find(struct line_samples *samples, int64_t loader_id, struct lines *ret);
void lines_done(struct lines *lines);

/* Returns true if the line that leads after the optimizer mostly runs between epochs. */
bool lines_lead_in_gaps(const struct lines *lines);

/* Returns a group's longest line, loops aside. NULL: too few samples, or maybe under a quarter. */
const struct line_share *lines_leading(const struct lines *lines, enum line_group group);

/*
 * Returns the longest line of the user's function that takes most of the steps, or NULL if no
 * function takes a fifth of them. Lines that run the whole step or the backward pass do not count.
 */
const struct line_share *lines_of_function(const struct line_lead *steps);

/*
 * Returns the line with most of the steps' time, or NULL if the user need not look at it. That is
 * so if the verdict is HIGHLY, if samples are too few, if the line is a library's or runs the whole
 * step, or if it may take less than a tenth of all time, or less than the waiting.
 */
const struct line_share *lines_of_step(const struct lines *lines, double stall_ratio);

/*
 * Returns the share of the loads' time in the function whose line lines_leading() returns, or 0.
 * Without `with_calls`, returns 0 also if that line is not the user's, or mostly calls Python code
 * (except wrappers of C).
 */
double lines_function_share(const struct lines *lines, bool with_calls);

struct line_named {
	const struct line_share *line;
	enum line_group group;
	bool is_holder; /* a line of another thread, which held the interpreter meanwhile */
};

/*
 * Chooses the line to report beside a cause. Returns false if there is none. The line or, in loads
 * and waits, its function must take a quarter of the time, less its error. A line of another thread
 * goes first if it held the interpreter for half of the time. For slow samplers and epoch starts, a
 * line of the loader's own code is the last choice.
 */
bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret);

/* Returns true if the cause's time is spent in steps or saves, not in waits; or for CAUSE_NONE. */
bool lines_is_pause(enum cause cause);

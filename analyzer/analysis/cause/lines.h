/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - finds the lines of code that take the most time in loads, waits and steps.
 *
 * A stack sample counts for its innermost line in the user's own files or, without any, in all.
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
	X(SAVE, "save", SAVES)                                                                     \
	X(STEP, "step", STEPS) /* rest of a step, or a whole step */                              \
	X(OTHER, "other", REST)

/* X(identifier, name in the database) */
#define LINE_ROLES(X)                                                                              \
	X(MAIN, "main")     /* the thread that takes the batches */                                \
	X(WORKER, "worker") /* the main thread of a worker */                                      \
	X(THREAD, "thread") /* another thread, sampled while it held the interpreter */

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

/* A stack sample stands for the time since the sample before, limited to this range. */
#define LINE_LEAST_NS INT64_C(50000000)
#define LINE_MOST_NS  INT64_C(1000000000)

struct line_frame {
	char *file, *function; /* as shown in reports, which may be redacted */
	int64_t line;          /* 0: unknown */
	bool is_own;           /* the file is the user's, not Python's or an installed package's */
	bool is_iterator;
	bool is_queue;   /* the function is get() of a multiprocessing queue */
	bool is_sharer;  /* the function is in multiprocessing.resource_sharer */
	bool is_sampler; /* the function belongs to PyTorch's loader and chooses samples */
	bool is_waiter;  /* the function belongs to PyTorch's loader, or waits for it */
	bool is_maker;   /* lines_is_maker() */
};

struct line_stack {
	enum line_role role;
	enum line_phase phase;
	int64_t loader_id; /* 0: unknown */
	int64_t count, ns;
	const uint32_t *frames; /* indexes in line_samples.frames, the innermost first */
	size_t depth;           /* at least 1 */
};

struct line_samples {
	struct line_frame *frames;
	size_t frame_count;
	struct line_stack *stacks;
	size_t stack_count;
	uint32_t *places; /* the stacks' `frames` point into this array of indexes */
	int64_t *ids;
	char *reason; /* why stacks were not sampled; NULL: no reason is recorded */
};

/* STEPS includes AFTERS (after the optimizer) and SAVES (while saving). */
enum line_group {
	LINE_LOADS,
	LINE_WAITS,
	LINE_STEPS,
	LINE_AFTERS,
	LINE_SAVES,
	LINE_REST,
	LINE_GROUP_MAX
};

/* A line's time includes calls to code that is not the user's code. */
struct line_share {
	uint32_t frame; /* index in line_samples.frames */
	double ns;      /* time that the samples on this line stand for */
	double share;
	double error;       /* half-width of the share's 95 % range */
	double of_function; /* share of all lines of its function; 0 for lines behind LINE_SUMMED */
	double function_error;
	int64_t count;
	uint32_t inner;      /* innermost frame with most of the line's time; may be `frame` */
	double inner_share;  /* share of the line's time that `inner` has */
	enum line_role role; /* role of the threads in which the line spent most of its time */
	bool is_loop;        /* the line mostly waits in a loop that calls the loader */
	bool is_waiter;
	bool is_own;
};

#define LINE_SUMMED 32

struct line_lead {
	struct line_share *lines; /* lines with the most time first */
	size_t count;
	int64_t samples;
	double ns; /* time that the samples stand for; shares in `lines` are relative to it */
};

struct lines {
	/*
	 * Share of receiving in which the main thread asked a worker for a descriptor. NAN: too few
	 * stack samples.
	 */
	double asking_share;
	/*
	 * Largest share of epochs' starts that may have chosen samples. NAN: too few stack samples.
	 */
	double most_sampling;
	double least_sampling; /* the same share, minus the error */
	/* Least share of the loads that made objects or connections. NAN: too few stack samples. */
	double making_share;
	struct line_lead groups[LINE_GROUP_MAX];
	/* Lines of threads that held the interpreter, relative to the main thread's time. */
	struct line_lead holders[LINE_GROUP_MAX];
	/* Innermost lines within the loader while loops of the main thread wait. */
	struct line_lead within;
};

/* Returns the path below Python's own folder or a folder of packages; NULL: it is in neither. */
const char *lines_below_packages(const char *file);

/* A line with a larger share of the steps is the whole step, and explains nothing. */
#define LINE_IS_STEP 0.9

/* Returns true if the path is that of a file of the user. */
bool lines_is_own(const char *file);

/* Returns the name without the class, which CPython puts before it from 3.11 on. */
const char *lines_bare_name(const char *function);

bool lines_is_iterator(const char *function);

/* Returns true if a function makes an object (as __init__()) or a connection (as connect()). */
bool lines_is_maker(const char *function);

/*
 * Returns Kish's effective size, (sum w)^2 / sum w^2. Only the number n and the sum of the weights
 * w are known. Each w is in [l, m] = [LINE_LEAST_NS, LINE_MOST_NS], so sum w^2 is taken as (l + m)
 * sum w - n l m.
 */
double lines_effective_count(int64_t count, double ns);

/* Returns half of Wilson's 95 % range, which has a width even if all samples agree; or NAN. */
double lines_error(double share, double effective_count);

/* Stacks of one group, of one loader or (loader_id 0) of all loaders. */
struct line_filter {
	enum line_group group;
	int64_t loader_id;
	bool takes_unknown; /* also takes stacks of an unknown loader */
};
struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group);
bool lines_passes(const struct line_filter *filter, const struct line_stack *stack);

/* Finds the lines of a loader (0: of all). If a group has none, lines of unknown loaders count. */
int lines_find(const struct line_samples *samples, int64_t loader_id, struct lines *ret);
void lines_done(struct lines *lines);

/* Returns the line with most of a group's time; NULL: less than a quarter, or few samples. */
const struct line_share *lines_leading(const struct lines *lines, enum line_group group);

/*
 * Returns the line that leads in the steps if it surely takes a tenth of all time and more than the
 * waiting, and is not the whole step. Returns NULL if there is none, the run is highly
 * input-bound, or `lines` is NULL.
 */
const struct line_share *lines_of_step(const struct lines *lines, double stall_ratio);

/*
 * Returns the share of the loads' time in the function of their costliest line; 0: no line leads.
 * Without `with_calls` the line must be the user's, and must not call Python code that takes most
 * of its time.
 */
double lines_function_share(const struct lines *lines, bool with_calls);

struct line_named {
	const struct line_share *line;
	enum line_group group;
	bool is_holder; /* the line belongs to another thread, which holds the interpreter */
};

/*
 * Chooses the line to report beside a cause; false: none. The line, or in loads and waits its
 * function, needs a quarter of the time, less its error. Another thread's line comes first if that
 * thread held the interpreter for half of the time. A loop that waits for the loader is replaced by
 * the line in the loader.
 */
bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret);

/* Returns true if the cause's time is in steps or saves, not in waits; also for CAUSE_NONE. */
bool lines_is_pause(enum cause cause);

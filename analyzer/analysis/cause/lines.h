/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - which lines of code lead in loads, in waits and in steps, from samples of stacks.
 *
 * A sample belongs to one line of its stack: the innermost of the user's own files, or, where all
 * files are Python's or of installed packages, the innermost of all. The loop around a loader is no
 * part of a load in the training's own thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(identifier, its name in a database, its group) */
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
	X(STEP, "step", STEPS) /* a step's rest or a whole step */                                \
	X(OTHER, "other", REST)

/* X(identifier, its name in a database) */
#define LINE_ROLES(X)                                                                              \
	X(MAIN, "main")     /* the thread that takes the batches */                                \
	X(WORKER, "worker") /* the main thread of a worker */                                      \
	X(THREAD, "thread") /* another thread, which held the interpreter meanwhile */

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

/* A sample stands for the time since the one before, within these limits. */
#define LINE_LEAST_NS INT64_C(50000000)
#define LINE_MOST_NS  INT64_C(1000000000)

struct line_frame {
	char *file, *function; /* as shown to the reader, perhaps redacted */
	int64_t line;          /* 0: not known */
	bool is_own;           /* a file of the user's, not of Python's or of a package's */
	bool is_iterator;      /* __iter__ or __next__ of another file */
	bool is_queue;         /* get() of multiprocessing's queues */
	bool is_sharer;        /* it is of multiprocessing.resource_sharer */
};

struct line_stack {
	enum line_role role;
	enum line_phase phase;
	int64_t loader_id; /* 0: not known */
	int64_t count, ns;
	const uint32_t *frames; /* places in line_samples.frames, the innermost first */
	size_t depth;           /* at least 1 */
};

struct line_samples {
	struct line_frame *frames;
	size_t frame_count;
	struct line_stack *stacks;
	size_t stack_count;
	uint32_t *places; /* what the stacks' frames point into */
	int64_t *ids;     /* the frames' ids in the database */
	char *reason;     /* why lines were not observed; NULL: no reason is recorded */
};

/* AFTERS and SAVES are parts of STEPS: after the optimizer, and in saving. */
enum line_group {
	LINE_LOADS,
	LINE_WAITS,
	LINE_STEPS,
	LINE_AFTERS,
	LINE_SAVES,
	LINE_REST,
	LINE_GROUP_MAX
};

/* A line of code and its share of a group's time, with callees in other files. */
struct line_share {
	uint32_t frame;      /* place in line_samples.frames */
	double ns;           /* time that its samples stand for */
	double share;        /* share of the group's time */
	double error;        /* half-width of the share's 95 % range */
	double of_function;  /* share of all lines of its function; 0 behind LINE_SUMMED lines */
	double function_error;
	int64_t count;       /* number of samples */
	uint32_t inner;      /* the innermost frame of most samples; may be `frame` */
	double inner_share;  /* share of the line's time that has this innermost frame */
	enum line_role role; /* role of most samples */
	bool is_loop; /* a line of waits that mostly asks a loader for the batch */
};

#define LINE_SUMMED 32

struct line_lead {
	struct line_share *lines; /* the longest first */
	size_t count;
	int64_t samples; /* number of samples in the group */
	double ns;       /* time that these samples stand for; the lines' shares are of it */
};

struct lines {
	/* Share of receiving in which the main thread asked a worker for a tensor's descriptor. The
	 * answer needs the worker's interpreter, which is at work on its next load. NAN: receiving
	 * has too few samples. */
	double asking_share;
	/* Lines of the threads that load or train, by group. */
	struct line_lead groups[LINE_GROUP_MAX];
	/* Lines of other threads in the training's process that held the interpreter while its main
	 * thread loaded, waited or stepped. Shares are of the main thread's time in the group. */
	struct line_lead holders[LINE_GROUP_MAX];
};

/* The part of a path below Python's own folder or one of packages; NULL: it is below neither. */
const char *lines_below_packages(const char *file);

/* Share of the steps: a line that takes more is the step itself, and tells nothing of it. */
#define LINE_IS_STEP 0.9

/* Whether a file, by its path, is neither Python's own nor of an installed package. */
bool lines_is_own(const char *file);

/* A function's name without its class, which precedes it from CPython 3.11 on. */
const char *lines_bare_name(const char *function);

/* Whether a function, by its qualified name, is __iter__() or __next__(). */
bool lines_is_iterator(const char *function);

/*
 * The number of independent samples of equal weight that are as good as `count` samples which
 * together stand for `ns`, each for LINE_LEAST_NS to LINE_MOST_NS: Kish's effective sample size,
 * (sum w)^2 / sum w^2, where sum w^2 <= (l + m) sum w - n l m for weights within [l, m].
 */
double lines_effective_count(int64_t count, double ns);

/*
 * Half-width of a share's 95 % range by so many independent samples. It is Wilson's range, which
 * has a width even where all samples agree. NAN: no samples.
 */
double lines_error(double share, double effective_count);

/* Selects the stacks of a group, of one loader or, with loader_id 0, of all. */
struct line_filter {
	enum line_group group;
	int64_t loader_id;
	bool takes_unknown; /* also stacks of no known loader */
};
struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group);
bool lines_passes(const struct line_filter *filter, const struct line_stack *stack);

/*
 * Finds the lines of one loader (0: of all), and of its consumer's steps and waits. Samples of no
 * known loader count where the group has none of another loader. 0 or -ENOMEM.
 */
int lines_find(const struct line_samples *samples, int64_t loader_id, struct lines *ret);
void lines_done(struct lines *lines);

/*
 * The line that has a quarter of the group's time or more after subtracting its error, and is not a
 * loop that waits; NULL: there is none, or there are too few samples.
 */
const struct line_share *lines_leading(const struct lines *lines, enum line_group group);

/* A line to name beside a cause. */
struct line_named {
	const struct line_share *line;
	enum line_group group;
	bool is_holder; /* the line is another thread's, which holds the interpreter meanwhile */
};

/*
 * Names the line that leads where a diagnosis puts its cause: in loads, waits or steps. It has a
 * quarter of that time or more after subtracting its error; outside of steps its function may have
 * that instead. A line of another thread leads if it holds the interpreter in half of the main
 * thread's time there. In waits the line is not a loop, and for pauses of the training its share
 * fits their cost. False: there is no such line, or there are too few samples.
 */
struct diagnosis;
struct finding;
bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret);

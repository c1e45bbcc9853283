/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - which lines of code lead in loads, in waits and in steps, from samples of stacks.
 *
 * A sample belongs to one line of its stack: the innermost of the user's own files, or, where all
 * files are Python's or of installed packages, the innermost of all. Of a load in the training's
 * own thread the loop around the loader is no part.
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
	X(STEP, "step", STEPS) /* all else of it, or a whole one */                                \
	X(OTHER, "other", REST)

/* X(identifier, its name in a database) */
#define LINE_ROLES(X)                                                                              \
	X(MAIN, "main")     /* the thread that takes the batches */                                \
	X(WORKER, "worker") /* the main thread of a worker */                                      \
	X(THREAD, "thread") /* held the interpreter of the training's process meanwhile */

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

/* What a sample stands for: the time since the one before, within these limits. */
#define LINE_LEAST_NS INT64_C(50000000)
#define LINE_MOST_NS  INT64_C(1000000000)

struct line_frame {
	char *file, *function; /* for the reader's eyes: redacted, where that is wanted */
	int64_t line;          /* 0: not known */
	bool is_own;           /* a file of the user's, not of Python's or of a package's */
	bool is_iterator;      /* __iter__ or __next__ of another file */
	bool is_queue;         /* get() of multiprocessing's queues */
	bool is_sharer;        /* of multiprocessing.resource_sharer */
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
	int64_t *ids;     /* of the frames, in the database */
	char *reason;     /* why lines were not observed; NULL: nobody says that they were not */
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

/* A line that a share of a group's time was spent at, callees in other files included. */
struct line_share {
	uint32_t frame;      /* place in line_samples.frames */
	double ns;           /* that its samples stand for */
	double share;        /* of the group's */
	double error;        /* the share's 95 % range reaches no further from it */
	double of_function;  /* share of all lines of its function; 0 from LINE_SUMMED on */
	double function_error;
	int64_t count;       /* of samples */
	uint32_t inner;      /* the innermost frame of most of them; may be `frame` */
	double inner_share;  /* ... of the line's time */
	enum line_role role; /* of most */
	bool is_loop; /* of a wait: the line asks a loader for the batch, in most of its time */
};

#define LINE_SUMMED 32

struct line_lead {
	struct line_share *lines; /* the longest first */
	size_t count;
	int64_t samples; /* of the group */
	double ns;       /* that they stand for, of which lines have shares */
};

struct lines {
	/*
	 * Of the time of receiving, what the main thread spent asking a worker for a tensor's
	 * descriptor, which needs the worker's interpreter, and that is at work on its next load.
	 * NAN: receiving has too few samples.
	 */
	double asking_share;
	/* Of the threads that load or train: groups as in enum line_group. */
	struct line_lead groups[LINE_GROUP_MAX];
	/*
	 * Threads of the training's process that held the interpreter while its main thread loaded,
	 * waited or stepped: shares of what that thread took for it.
	 */
	struct line_lead holders[LINE_GROUP_MAX];
};

/* The path of a file within Python's own folder or one of packages; NULL: it lies in none. */
const char *lines_below_packages(const char *file);

/* Of the steps: a line that takes more of them is the step itself, and tells nothing of it. */
#define LINE_IS_STEP 0.9

/* Whether a file, by its path, is neither Python's own nor of an installed package. */
bool lines_is_own(const char *file);

/* The name of a function without its class, which it has before it from CPython 3.11 on. */
const char *lines_bare_name(const char *function);

/* Whether a function, by its qualified name, hands out what a loader or the like makes. */
bool lines_is_iterator(const char *function);

/*
 * The number of independent samples of equal weight that are as good as `count` samples which
 * together stand for `ns`, each for LINE_LEAST_NS to LINE_MOST_NS: Kish's effective sample size,
 * (sum w)^2 / sum w^2, where sum w^2 <= (l + m) sum w - n l m for weights within [l, m].
 */
double lines_effective_count(int64_t count, double ns);

/*
 * How far the 95 % range of a share by so many independent samples reaches from it: Wilson's range,
 * which is no point where all samples agree. NAN: no samples.
 */
double lines_error(double share, double effective_count);

/* The stacks of a group of one loader (0: of all): as below. */
struct line_filter {
	enum line_group group;
	int64_t loader_id;
	bool takes_unknown; /* also stacks of no known loader */
};
struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group);
bool lines_passes(const struct line_filter *filter, const struct line_stack *stack);

/*
 * Of one loader (0: of all), and of steps and waits of its consumer. Samples of no known loader
 * count where the group has those of no other one. 0 or -ENOMEM.
 */
int lines_find(const struct line_samples *samples, int64_t loader_id, struct lines *ret);
void lines_done(struct lines *lines);

/*
 * The line that has at least a quarter of the group's time beyond its error, and is no loop that
 * waits; NULL: none has, or there are too few samples.
 */
const struct line_share *lines_leading(const struct lines *lines, enum line_group group);

/* A line to name beside a cause. */
struct line_named {
	const struct line_share *line;
	enum line_group group;
	bool is_holder; /* of another thread, which holds the interpreter meanwhile */
};

/*
 * The line that leads where a diagnosis puts its cause: the loads, the waits, the steps. False:
 * none has at least a quarter of that time beyond its error, nor, but in steps, has its function,
 * or there are too few samples. A line
 * of another thread leads if it holds the interpreter in half of what the main thread does there.
 * Of waits it is no loop, and of pauses of the training a line that may be all of them.
 */
struct diagnosis;
struct finding;
bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - which lines of code take the most time in loads, waits and steps, by stack samples.
 *
 * A sample belongs to one line of its stack: the innermost in the user's own files, or, if all
 * files are Python's or of installed packages, the innermost of all. In the training's own thread,
 * the loop around a loader is no part of a load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	X(STEP, "step", STEPS) /* a step's rest or a whole step */                                \
	X(OTHER, "other", REST)

/* X(identifier, name in the database) */
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

/* A sample stands for the time since the sample before it, within these limits. */
#define LINE_LEAST_NS INT64_C(50000000)
#define LINE_MOST_NS  INT64_C(1000000000)

struct line_frame {
	char *file, *function; /* as shown to the reader; may be redacted */
	int64_t line;          /* 0: not known */
	bool is_own;           /* the file is the user's, not Python's or an installed package's */
	bool is_iterator;      /* the function is __iter__ or __next__ */
	bool is_queue;         /* the function is get() of one of multiprocessing's queues */
	bool is_sharer;        /* the function is in multiprocessing.resource_sharer */
};

struct line_stack {
	enum line_role role;
	enum line_phase phase;
	int64_t loader_id; /* 0: not known */
	int64_t count, ns;
	const uint32_t *frames; /* indexes in line_samples.frames, the innermost first */
	size_t depth;           /* at least 1 */
};

struct line_samples {
	struct line_frame *frames;
	size_t frame_count;
	struct line_stack *stacks;
	size_t stack_count;
	uint32_t *places; /* indexes that the stacks' `frames` point into */
	int64_t *ids;     /* ids of the frames in the database */
	char *reason;     /* why stacks were not sampled; NULL: no reason is recorded */
};

/* Groups of phases. AFTERS and SAVES are parts of STEPS: after the optimizer, and in saving. */
enum line_group {
	LINE_LOADS,
	LINE_WAITS,
	LINE_STEPS,
	LINE_AFTERS,
	LINE_SAVES,
	LINE_REST,
	LINE_GROUP_MAX
};

/* A line of code, and its share of a group's time, with its callees in other files. */
struct line_share {
	uint32_t frame;      /* index in line_samples.frames */
	double ns;           /* time that the line's samples stand for */
	double share;        /* share of the group's time */
	double error;        /* half-width of the share's 95 % range */
	double of_function;  /* share of its function's lines; 0 after LINE_SUMMED lines */
	double function_error;
	int64_t count;       /* number of samples */
	uint32_t inner;      /* index of the innermost frame that most time has; may be `frame` */
	double inner_share;  /* share of the line's time that samples with this innermost frame
			      * have */
	enum line_role role; /* role of the threads that have most of the time */
	bool is_loop; /* a line in waits that mostly asks a loader for the batch */
};

#define LINE_SUMMED 32

struct line_lead {
	struct line_share *lines; /* lines with the most time first */
	size_t count;
	int64_t samples; /* number of samples in the group */
	double ns;       /* time of the samples; shares of `lines` are relative to it */
};

struct lines {
	/* Share of receiving in which the main thread asked a worker for a tensor's descriptor. The
	 * answer needs the worker's interpreter, which is busy with the next load. NAN: receiving
	 * has too few samples. */
	double asking_share;
	/* Lines of the threads that load or train, for each group. */
	struct line_lead groups[LINE_GROUP_MAX];
	/* Lines of other threads in the training's process that held the interpreter while its main
	 * thread loaded, waited or stepped. Shares are relative to the main thread's time in the
	 * group. */
	struct line_lead holders[LINE_GROUP_MAX];
};

/* Returns the part of a path below Python's folder or a folder of packages, or NULL. */
const char *lines_below_packages(const char *file);

/* A line with a larger share of the steps is the whole step, and explains nothing. */
#define LINE_IS_STEP 0.9

/* Returns true if a file, by its path, is neither Python's own nor an installed package's. */
bool lines_is_own(const char *file);

/* Returns a function's name without its class, which CPython puts before it from 3.11 on. */
const char *lines_bare_name(const char *function);

/* Returns true if a function, by its qualified name, is __iter__() or __next__(). */
bool lines_is_iterator(const char *function);

/*
 * Returns how many independent samples of equal weight are as good as these `count` samples, which
 * together stand for `ns`, each for LINE_LEAST_NS to LINE_MOST_NS: Kish's effective sample size,
 * (sum w)^2 / sum w^2, where sum w^2 <= (l + m) sum w - n l m for weights within [l, m].
 */
double lines_effective_count(int64_t count, double ns);

/*
 * Returns the half-width of a share's 95 % range from `effective_count` samples. It is Wilson's
 * range, which has a width even where all samples agree. NAN: no samples.
 */
double lines_error(double share, double effective_count);

/* Selects the stacks of one group, of one loader or (loader_id 0) of all loaders. */
struct line_filter {
	enum line_group group;
	int64_t loader_id;
	bool takes_unknown; /* stacks whose loader is not known pass, too */
};
struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group);
bool lines_passes(const struct line_filter *filter, const struct line_stack *stack);

/*
 * Finds the lines of one loader (0: of all), and of its consumer's steps and waits. Samples without
 * a known loader count if the group has none of another loader. Returns 0 or -ENOMEM.
 */
int lines_find(const struct line_samples *samples, int64_t loader_id, struct lines *ret);
void lines_done(struct lines *lines);

/*
 * Returns the line with the most time that has a quarter of the group's time, less its error, and
 * is not a loop that waits; NULL: there is none, or there are too few samples.
 */
const struct line_share *lines_leading(const struct lines *lines, enum line_group group);

/* A line to name beside a cause. */
struct line_named {
	const struct line_share *line;
	enum line_group group;
	bool is_holder; /* the line is of another thread, which holds the interpreter */
};

/*
 * Names the line that leads where a diagnosis puts its cause: in loads, waits or steps. The line
 * has a quarter of that time or more after subtracting its error; in loads and waits its function
 * may have that instead. A line of another thread leads if it holds the interpreter in half of the
 * main thread's time there. In waits the line is not a loop, and for pauses of the training its
 * share fits their cost. Returns false if there is no such line, or if there are too few samples.
 */
struct diagnosis;
struct finding;
bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret);

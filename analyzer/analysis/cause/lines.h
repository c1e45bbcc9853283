/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - finds the lines of code that take the most time in loads, waits and steps, from stack
 * samples.
 *
 * A sample counts for one line of its stack: the innermost line in the user's own files. If all
 * files are Python's or of installed packages, it counts for the innermost line of all. In the
 * training's thread, frames outside of the loader's iterator do not count for a load.
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
	int64_t line;          /* 0: not known */
	bool is_own;           /* the file is the user's, not Python's or an installed package's */
	bool is_iterator;      /* the function is __iter__ or __next__ */
	bool is_queue;         /* the function is get() of one of multiprocessing's queues */
	bool is_sharer;        /* the function is in multiprocessing.resource_sharer */
	bool is_sampler;       /* the function is _next_index() of PyTorch's loader */
	bool is_waiter;        /* the function is of PyTorch's loader, or of what it waits with */
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
	uint32_t *places; /* the stacks' `frames` point into this array of indexes */
	int64_t *ids;     /* ids of the frames in the database */
	char *reason;     /* why stacks were not sampled; NULL: no reason is recorded */
};

/* Groups of phases. STEPS includes AFTERS (after the optimizer) and SAVES (while saving). */
enum line_group {
	LINE_LOADS,
	LINE_WAITS,
	LINE_STEPS,
	LINE_AFTERS,
	LINE_SAVES,
	LINE_REST,
	LINE_GROUP_MAX
};

/* A line of code, and its share of a group's time with calls to code that is not the user's. */
struct line_share {
	uint32_t frame;      /* index in line_samples.frames */
	double ns;           /* time that the samples on this line stand for */
	double share;        /* share of the group's time */
	double error;        /* half-width of the share's 95 % range */
	double of_function;  /* share of its function's lines; 0 after LINE_SUMMED lines */
	double function_error;
	int64_t count;       /* number of samples */
	uint32_t inner;      /* innermost frame with most of the line's time; may be `frame` */
	double inner_share;  /* share of the line's time in samples whose innermost frame is
			      * `inner` */
	enum line_role role; /* role of the threads in which the line spent most of its time */
	bool is_loop; /* the line mostly waits in a loop that calls the loader */
	bool is_waiter; /* the line's frame has is_waiter */
};

#define LINE_SUMMED 32

struct line_lead {
	struct line_share *lines; /* lines with the most time first */
	size_t count;
	int64_t samples; /* number of samples in the group */
	double ns;       /* time that the samples stand for; shares in `lines` are relative to it */
};

struct lines {
	/* Share of receiving in which the main thread waited for a worker to send a tensor's file
	 * descriptor. A worker can only answer when its interpreter, busy with the next load, is
	 * free. NAN: receiving has too few samples. */
	double asking_share;
	/* Largest share of the epochs' starts in which the main thread may have chosen samples: the
	 * share of its samples, plus the error. NAN: the starts have too few samples. */
	double most_sampling;
	/* Lines of the threads that load or train. */
	struct line_lead groups[LINE_GROUP_MAX];
	/* Lines of other threads of the training's process, sampled while they held the interpreter
	 * and the main thread loaded, waited or stepped. Shares are relative to the main thread's
	 * time in the group. */
	struct line_lead holders[LINE_GROUP_MAX];
	/* Innermost lines within the loader while loops of the main thread wait. Shares are
	 * relative to the time of the waits. */
	struct line_lead within;
};

/* Returns the path below Python's folder or a folder of packages, or NULL if it is in neither. */
const char *lines_below_packages(const char *file);

/* A line with a larger share of the steps is the whole step; naming it explains nothing. */
#define LINE_IS_STEP 0.9

/* Returns true if a file, by its path, is neither Python's own nor an installed package's. */
bool lines_is_own(const char *file);

/* Returns a function's name without its class, which CPython puts before it from 3.11 on. */
const char *lines_bare_name(const char *function);

/* Returns true if a function, by its qualified name, is __iter__() or __next__(). */
bool lines_is_iterator(const char *function);

/*
 * Returns Kish's effective size, (sum w)^2 / sum w^2, of n = `count` samples with weights w. Only
 * their sum `ns` is known, and that each is in [l, m] = [LINE_LEAST_NS, LINE_MOST_NS]. So the most
 * that sum w^2 can be is taken: (l + m) sum w - n l m.
 */
double lines_effective_count(int64_t count, double ns);

/*
 * Returns the half-width of a share's 95 % range from `effective_count` samples, or NAN if that is
 * 0. It is Wilson's range, which has a width even where all samples agree.
 */
double lines_error(double share, double effective_count);

/* Selects the stacks of one group, of one loader or (loader_id 0) of all loaders. */
struct line_filter {
	enum line_group group;
	int64_t loader_id;
	bool takes_unknown; /* stacks with an unknown loader pass, too */
};
struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group);
bool lines_passes(const struct line_filter *filter, const struct line_stack *stack);

/*
 * Finds the lines of one loader (0: of all loaders), and of its consumer's steps and waits. Samples
 * whose loader is unknown count only if no sample of the group is of another loader. Returns 0 or
 * -ENOMEM.
 */
int lines_find(const struct line_samples *samples, int64_t loader_id, struct lines *ret);
void lines_done(struct lines *lines);

/*
 * Returns the line with the most time, unless it is a loop that waits or its share of the group,
 * less its error, is below a quarter. Returns NULL if there is none, or too few samples.
 */
const struct line_share *lines_leading(const struct lines *lines, enum line_group group);

/* A line to report beside a cause. */
struct line_named {
	const struct line_share *line;
	enum line_group group;
	bool is_holder; /* the line is of another thread, which holds the interpreter */
};

/*
 * Chooses the line to report beside a diagnosis' cause, in the loads, waits or steps where the
 * cause takes its time. A line needs a quarter of that time after its error is subtracted; in loads
 * and waits it is enough if its function has that. A line of another thread is preferred if it held
 * the interpreter for half of that time. A loop that waits is never reported; if samples are chosen
 * or epochs start meanwhile, the innermost line within the loader is, unless it waits. For
 * pauses of the training, the line's share must fit their cost. Returns false if no line qualifies,
 * or there are too few samples.
 */
struct diagnosis;
struct finding;
bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret);

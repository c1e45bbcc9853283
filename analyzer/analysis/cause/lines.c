/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/units.h"

#define NORMAL_95    1.96
/* a line of code is reported if its share of the group's time, less its error, is at least this */
#define NAMED_SHARE  0.25
/* a function of the user's is named for the steps if it takes at least this share of them */
#define OWN_OF_STEP  0.2
/* a line of a step is reported only if it takes at least this share of all time */
#define LEAST_OF_STEP 0.1
#define NAMED_COUNT  30   /* a line is reported only if its group has this many stack samples */
#define HELD_SHARE   0.5
#define ASKING_SHARE 0.5
#define CALLS_SHARE  0.5
#define PAUSE_SLACK  0.1 /* relative error of the pauses' cost */

const char *const line_phase_names[LINE_PHASE_MAX] = {
#define X(id, name, group) [LINE_##id] = name,
	LINE_PHASES(X)
#undef X
};

const char *const line_role_names[LINE_ROLE_MAX] = {
#define X(id, name) [LINE_ROLE_##id] = name,
	LINE_ROLES(X)
#undef X
};

static const enum line_group group_of[LINE_PHASE_MAX] = {
#define X(id, name, group) [LINE_##id] = LINE_##group,
	LINE_PHASES(X)
#undef X
};

/* Returns the part of a path below "/lib/python3.11/", "/lib/python3/" or "/lib/python311.zip/". */
static const char *below_python(const char *file, const char *folder)
{
	const char *at = strstr(file, folder);

	if (!at)
		return NULL;
	at += strlen(folder);
	at += strspn(at, ".0123456789t");
	if (strncmp(at, "zip", 3) == 0)
		at += 3;
	return *at == '/' ? at + 1 : NULL;
}

const char *lines_below_packages(const char *file)
{
	static const char *const packages[] = {"/site-packages/", "/dist-packages/"};
	const char *at;

	for (size_t i = 0; i < ARRAY_COUNT(packages); i++)
		if ((at = strstr(file, packages[i])))
			return at + strlen(packages[i]);
	at = below_python(file, "/lib/python3");
	return at ? at : below_python(file, "/lib64/python3");
}

static bool is_entry_point(const char *file)
{
	const char *name = strrchr(file, '/');

	return name && name - file >= 4 && strncmp(name - 4, "/bin", 4) == 0 &&
	       !strstr(name, ".py");
}

bool lines_is_own(const char *file)
{
	/* Names of code that the user typed. Libraries give other names in <> to code they make. */
	static const char *const typed[] = {"<stdin>", "<ipython-input"};

	if (*file == '<') {
		for (size_t i = 0; i < ARRAY_COUNT(typed); i++)
			if (strncmp(file, typed[i], strlen(typed[i])) == 0)
				return true;
		return false;
	}
	return *file && !lines_below_packages(file) && !is_entry_point(file);
}

const char *lines_bare_name(const char *function)
{
	const char *dot = strrchr(function, '.');

	return dot ? dot + 1 : function;
}

bool lines_is_iterator(const char *function)
{
	const char *name = lines_bare_name(function);

	return strcmp(name, "__iter__") == 0 || strcmp(name, "__next__") == 0;
}

bool lines_is_maker(const char *function)
{
	static const char *const makers[] = {"__init__", "connect", "create_connection",
					     "create_client", "do_handshake"};
	const char *name = lines_bare_name(function);

	for (size_t i = 0; i < ARRAY_COUNT(makers); i++)
		if (strcmp(name, makers[i]) == 0)
			return true;
	return false;
}

double lines_effective_count(int64_t count, double ns)
{
	const double least = (double)LINE_LEAST_NS, most = (double)LINE_MOST_NS;
	double n = (double)count, squares = (least + most) * ns - n * least * most;

	if (!(n > 0) || !(ns > 0))
		return 0;
	/* So small a sum needs weights outside of their range: the file is damaged. */
	if (!(squares > ns * ns / n))
		return n;
	return ns * ns / squares;
}

double lines_error(double share, double effective_count)
{
	const double z2 = NORMAL_95 * NORMAL_95, n = effective_count;
	double middle, half;

	if (!(n > 0))
		return NAN;
	middle = (share + z2 / (2 * n)) / (1 + z2 / n);
	half = NORMAL_95 / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
	return fabs(middle - share) + half;
}

struct piece {
	uint32_t frame, inner;
	enum line_role role;
	bool is_loop, is_gap;
	int64_t count;
	double ns;
};

/* Counts frames from the innermost up to the loader's iterator; all frames if there is none. */
static size_t within_loader(const struct line_samples *samples, const struct line_stack *stack)
{
	for (size_t i = stack->depth; i > 0; i--)
		if (samples->frames[stack->frames[i - 1]].is_iterator)
			return i;
	return stack->depth;
}

/*
 * Counts frames from the innermost one up to PyTorch's fetching of samples or, without that, up to
 * the loader's iterator. The iterator may be a user's class around the loader, which loads nothing.
 */
static size_t within_fetch(const struct line_samples *samples, const struct line_stack *stack)
{
	for (size_t i = stack->depth; i > 0; i--)
		if (samples->frames[stack->frames[i - 1]].does & LINE_FETCHES)
			return i;
	return within_loader(samples, stack);
}

/* Returns true if both frames are of one line of code, as a comprehension and its caller may be. */
static bool is_same_line(const struct line_frame *a, const struct line_frame *b)
{
	return a->line > 0 && a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool is_main_wait(const struct line_stack *stack)
{
	return stack->role == LINE_ROLE_MAIN && group_of[stack->phase] == LINE_WAITS;
}

/* Marks the user's lines that wait in a library which asks the loader for batches. */
static void mark_around(struct line_samples *samples)
{
	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];
		const size_t within = within_loader(samples, stack);

		if (!is_main_wait(stack) || within == stack->depth ||
		    samples->frames[stack->frames[within]].is_own)
			continue;
		for (size_t k = within; k < stack->depth; k++)
			samples->frames[stack->frames[k]].is_around = true;
	}
}

/* Returns true if the phase belongs to the group. STEPS includes AFTERS and SAVES. */
static bool is_in(enum line_group group, enum line_phase phase)
{
	const enum line_group own = group_of[phase];

	return own == group || (group == LINE_STEPS && (own == LINE_AFTERS || own == LINE_SAVES));
}

bool lines_is_step(enum line_phase phase)
{
	return is_in(LINE_STEPS, phase);
}

/* Returns true if a stack may count for this line: it is the user's, and no loop of whole steps. */
static bool may_name(const struct line_frame *frame, enum line_phase phase)
{
	return frame->is_own && !(frame->is_around && is_in(LINE_STEPS, phase));
}

static struct piece piece_of(const struct line_samples *samples, const struct line_stack *stack)
{
	bool is_load = stack->role == LINE_ROLE_MAIN && stack->phase == LINE_LOAD;
	size_t within = within_loader(samples, stack), i = 0;
	size_t end = is_load ? within_fetch(samples, stack) : stack->depth;

	while (i < end && !may_name(&samples->frames[stack->frames[i]], stack->phase))
		i++;
	while (i + 1 < end && is_same_line(&samples->frames[stack->frames[i]],
					   &samples->frames[stack->frames[i + 1]]))
		i++;
	return (struct piece){.frame = stack->frames[i < end ? i : 0],
			      .inner = stack->frames[0],
			      .role = lines_is_sampled(stack) ? stack->role : LINE_ROLE_THREAD,
			      .is_loop = is_main_wait(stack) && i >= within,
			      .is_gap = stack->phase == LINE_GAP,
			      .count = stack->count,
			      .ns = (double)stack->ns};
}

static int by_frame(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	if (left->frame != right->frame)
		return left->frame < right->frame ? -1 : 1;
	return (left->inner > right->inner) - (left->inner < right->inner);
}

static int by_time(const void *a, const void *b)
{
	const struct line_share *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return (left->frame > right->frame) - (left->frame < right->frame);
}

static struct line_share sum(const struct piece *pieces, size_t count)
{
	struct line_share line = {
		.frame = pieces->frame, .inner = pieces->inner, .role = pieces->role};
	double inner_ns = 0, most_ns = 0, loop_ns = 0, role_ns[LINE_ROLE_MAX] = {0};

	for (size_t i = 0; i < count; i++) {
		inner_ns = i && pieces[i].inner == pieces[i - 1].inner ? inner_ns : 0;
		inner_ns += pieces[i].ns;
		if (inner_ns > most_ns) {
			most_ns = inner_ns;
			line.inner = pieces[i].inner;
		}
		line.ns += pieces[i].ns;
		line.count += pieces[i].count;
		loop_ns += pieces[i].is_loop ? pieces[i].ns : 0;
		line.gap_ns += pieces[i].is_gap ? pieces[i].ns : 0;
		role_ns[pieces[i].role] += pieces[i].ns;
		if (role_ns[pieces[i].role] > role_ns[line.role])
			line.role = pieces[i].role;
	}
	line.inner_share = line.ns > 0 ? most_ns / line.ns : 0;
	line.is_loop = loop_ns > line.ns / 2;
	return line;
}

bool lines_is_same_function(const struct line_frame *a, const struct line_frame *b)
{
	return strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0;
}

static bool is_shared(const struct line_samples *samples, int64_t loader_id, enum line_group group)
{
	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];

		if (is_in(group, stack->phase) && stack->loader_id &&
		    stack->loader_id != loader_id)
			return true;
	}
	return false;
}

struct line_filter lines_filter(const struct line_samples *samples, int64_t loader_id,
				enum line_group group)
{
	return (struct line_filter){group, loader_id,
				    !loader_id || !is_shared(samples, loader_id, group)};
}

bool lines_passes(const struct line_filter *filter, const struct line_stack *stack)
{
	if (!is_in(filter->group, stack->phase))
		return false;
	if (stack->phase == LINE_GAP)
		return true;
	if (!stack->loader_id)
		return filter->takes_unknown;
	return !filter->loader_id || stack->loader_id == filter->loader_id;
}

/* Returns true if nearly all steps run in a frame's function: it has the loop, or a whole step. */
static bool is_whole_step(const struct line_samples *samples, const struct line_filter *filter,
			  uint32_t frame)
{
	double ns = 0, within_ns = 0;

	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];
		size_t k = 0;

		if (stack->role != LINE_ROLE_MAIN || !lines_passes(filter, stack))
			continue;
		while (k < stack->depth &&
		       !lines_is_same_function(&samples->frames[stack->frames[k]],
					       &samples->frames[frame]))
			k++;
		ns += (double)stack->ns;
		within_ns += k < stack->depth ? (double)stack->ns : 0;
	}
	return within_ns > LINE_IS_STEP * ns;
}

/*
 * Sets for each line the share that its whole function takes: the sum over the function's lines.
 * Lines that wait in a loop are summed separately. A line keeps its own share if its function is a
 * whole step, or if it runs the backward pass, which is a part of the step by itself.
 */
static void sum_functions(const struct line_samples *samples, const struct line_filter *filter,
			  double effective, struct line_lead *lead)
{
	for (size_t i = 0; i < lead->count && i < LINE_SUMMED; i++) {
		struct line_share *line = &lead->lines[i];
		const bool is_alone = filter->group == LINE_STEPS &&
				      (line->is_backward ||
				       is_whole_step(samples, filter, line->frame));

		for (size_t k = 0; k < lead->count; k++)
			if (lead->lines[k].is_loop == line->is_loop &&
			    (k == i || (!is_alone && !lead->lines[k].is_backward)) &&
			    lines_is_same_function(&samples->frames[line->frame],
						   &samples->frames[lead->lines[k].frame]))
				line->of_function += lead->lines[k].share;
		line->of_function = fmin(line->of_function, 1);
		line->function_error = lines_error(line->of_function, effective);
	}
}

static int lead(const struct line_samples *samples, const struct line_filter *filter,
		struct piece *pieces, size_t count, struct line_lead *ret)
{
	double effective = lines_effective_count(ret->samples, ret->ns), ns = 0;

	ret->lines = calloc(count + 1, sizeof(*ret->lines));
	if (!ret->lines)
		return -ENOMEM;
	qsort(pieces, count, sizeof(*pieces), by_frame);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin; end < count && pieces[end].frame == pieces[begin].frame; end++)
			ns += pieces[end].ns;
		ret->lines[ret->count++] = sum(pieces + begin, end - begin);
	}
	qsort(ret->lines, ret->count, sizeof(*ret->lines), by_time);
	ns = fmax(ns, ret->ns);
	for (size_t i = 0; i < ret->count; i++) {
		struct line_share *line = &ret->lines[i];

		line->share = ns > 0 ? fmin(line->ns / ns, 1) : 0;
		line->is_waiter = samples->frames[line->frame].is_waiter;
		line->is_own = samples->frames[line->frame].is_own;
		line->is_wrapped = samples->frames[line->inner].does & LINE_WRAPS;
		line->is_collating = samples->frames[line->frame].does & LINE_COLLATES;
		line->is_backward = samples->frames[line->inner].does & LINE_GOES_BACK &&
				    line->inner_share >= CALLS_SHARE;
		line->error = lines_error(line->share, effective);
	}
	sum_functions(samples, filter, effective, ret);
	return 0;
}

static int find(const struct line_samples *samples, int64_t loader_id, enum line_group group,
		bool is_holder, struct piece *pieces, struct line_lead *ret)
{
	const struct line_filter filter = lines_filter(samples, loader_id, group);
	size_t count = 0;

	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];
		bool is_sampled = lines_is_sampled(stack);

		if (!lines_passes(&filter, stack) || stack->role == LINE_ROLE_PYTHON)
			continue;
		if (is_holder ? stack->role == LINE_ROLE_MAIN : is_sampled) {
			ret->samples += stack->count;
			ret->ns += (double)stack->ns;
			ret->has_gaps |= stack->phase == LINE_GAP;
		}
		if (is_sampled != is_holder)
			pieces[count++] = piece_of(samples, stack);
	}
	return lead(samples, &filter, pieces, count, ret);
}

static int find_within(const struct line_samples *samples, int64_t loader_id,
		       struct piece *pieces, struct lines *ret)
{
	const struct line_filter filter = lines_filter(samples, loader_id, LINE_WAITS);
	size_t count = 0;

	ret->within.samples = ret->groups[LINE_WAITS].samples;
	ret->within.ns = ret->groups[LINE_WAITS].ns;
	for (size_t i = 0; i < samples->stack_count; i++) {
		struct piece piece = piece_of(samples, &samples->stacks[i]);

		if (!piece.is_loop || !lines_passes(&filter, &samples->stacks[i]))
			continue;
		piece.frame = piece.inner;
		piece.is_loop = false;
		pieces[count++] = piece;
	}
	return lead(samples, &filter, pieces, count, &ret->within);
}

/* Sets the shares of the steps in which the main thread waited for the interpreter, or held it. */
static void find_interpreter(const struct line_samples *samples, int64_t loader_id,
			     struct lines *ret)
{
	const struct line_filter filter = lines_filter(samples, loader_id, LINE_STEPS);
	double ns[LINE_ROLE_MAX] = {0}, free_ns;

	for (size_t i = 0; i < samples->stack_count; i++)
		if (lines_passes(&filter, &samples->stacks[i]))
			ns[samples->stacks[i].role] += (double)samples->stacks[i].ns;
	free_ns = ns[LINE_ROLE_MAIN] - ns[LINE_ROLE_THREAD] - ns[LINE_ROLE_HOLDER];
	ret->awaited_share =
		ns[LINE_ROLE_HOLDER] > 0 ? fmin(1, ns[LINE_ROLE_HOLDER] / ns[LINE_ROLE_MAIN]) : 0;
	ret->python_share = ns[LINE_ROLE_PYTHON] > 0 ? ns[LINE_ROLE_PYTHON] / free_ns : NAN;
}

/*
 * Returns the part of a phase's stack samples (LINE_PHASE_MAX: of all steps) that have a frame
 * with the bit `does`. Its `frame` is the outermost such frame of the stack with most time. For
 * LINE_LOAD all loading threads count, for other phases the training's thread.
 */
static struct line_part part_of(const struct line_samples *samples, int64_t loader_id,
				enum line_phase phase, enum line_does does)
{
	const bool is_any = phase == LINE_PHASE_MAX;
	const enum line_group group = is_any ? LINE_STEPS : group_of[phase];
	const struct line_filter filter = lines_filter(samples, loader_id, group);
	struct line_part ret = {.share = NAN};
	double found_ns = 0, ns = 0, longest_ns = 0;
	int64_t count = 0;

	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];
		const bool is_asked = group == LINE_LOADS ? stack->role != LINE_ROLE_THREAD
							  : stack->role == LINE_ROLE_MAIN;
		const double stack_ns = (double)stack->ns;
		size_t depth = stack->depth;

		if (!is_asked || (!is_any && stack->phase != phase) ||
		    !lines_passes(&filter, stack))
			continue;
		if (group == LINE_LOADS && stack->role == LINE_ROLE_MAIN)
			depth = within_loader(samples, stack);
		while (depth > 0 && !(samples->frames[stack->frames[depth - 1]].does & does))
			depth--;
		count += stack->count;
		ns += stack_ns;
		found_ns += depth ? stack_ns : 0;
		if (depth && stack_ns > longest_ns) {
			longest_ns = stack_ns;
			ret.frame = stack->frames[depth - 1];
		}
	}
	if (count >= NAMED_COUNT && ns > 0)
		ret.share = found_ns / ns;
	ret.error = lines_error(ret.share, lines_effective_count(count, ns));
	return ret;
}

int lines_find(struct line_samples *samples, int64_t loader_id, struct lines *ret)
{
	struct piece *pieces = calloc(samples->stack_count + 1, sizeof(*pieces));
	struct line_part sampling, making, single;
	int r = pieces ? 0 : -ENOMEM;

	*ret = (struct lines){0};
	mark_around(samples);
	for (int group = 0; r == 0 && group < LINE_GROUP_MAX; group++) {
		r = find(samples, loader_id, group, false, pieces, &ret->groups[group]);
		if (r == 0)
			r = find(samples, loader_id, group, true, pieces, &ret->holders[group]);
	}
	if (r == 0)
		r = find_within(samples, loader_id, pieces, ret);
	free(pieces);
	if (r < 0) {
		lines_done(ret);
		return r;
	}
	sampling = part_of(samples, loader_id, LINE_EPOCH_START, LINE_CHOOSES);
	making = part_of(samples, loader_id, LINE_LOAD, LINE_MAKES);
	single = part_of(samples, loader_id, LINE_LOAD, LINE_GETS_ITEM);
	find_interpreter(samples, loader_id, ret);
	ret->around = part_of(samples, loader_id, LINE_PHASE_MAX, LINE_ITERATES);
	ret->asking_share = part_of(samples, loader_id, LINE_RECEIVING, LINE_SHARES).share;
	ret->compiling_share = part_of(samples, loader_id, LINE_BEFORE, LINE_COMPILES).share;
	ret->making_share = making.share;
	ret->making_error = making.error;
	ret->single_share = single.share - single.error -
			    part_of(samples, loader_id, LINE_LOAD, LINE_GETS_ITEMS).share;
	ret->least_sampling = sampling.share - sampling.error;
	ret->most_sampling = isnan(sampling.share) ? NAN : fmin(1, sampling.share + sampling.error);
	return 0;
}

void lines_done(struct lines *lines)
{
	for (int group = 0; group < LINE_GROUP_MAX; group++) {
		free(lines->groups[group].lines);
		free(lines->holders[group].lines);
	}
	free(lines->within.lines);
	*lines = (struct lines){0};
}

#define LINE_NONE LINE_GROUP_MAX

static const enum line_group group_of_cause[CAUSE_MAX] = {
	[CAUSE_UNKNOWN] = LINE_NONE,
#define CAUSE(constant, name, group, ...) [CAUSE_##constant] = LINE_##group,
#include "analysis/cause/causes.def"
#undef CAUSE
};

bool lines_is_pause(enum cause cause)
{
	const enum line_group group = group_of_cause[cause];

	return group == LINE_STEPS || group == LINE_SAVES || group == LINE_AFTERS;
}

/* Returns false if pauses are the cause, but take another share of the steps than this line. */
static bool may_be_pauses(const struct line_share *line, const struct finding *finding,
			  const struct diagnosis *diagnosis)
{
	double share;

	if (diagnosis->cause != CAUSE_MAIN_THREAD_PERIODIC || !diagnosis->cause_count)
		return true;
	share = diagnosis->causes[0].ns / finding->account.step_ns;
	return fabs(line->share - share) <= line->error + PAUSE_SLACK * share;
}

static bool takes(const struct line_share *line, double share)
{
	return line->share - line->error >= share;
}

static bool is_of_function(const struct line_share *line, double share)
{
	return line->of_function - line->function_error >= share;
}

const struct line_share *lines_leading(const struct lines *lines, enum line_group group)
{
	const struct line_lead *lead = lines ? &lines->groups[group] : NULL;

	for (size_t i = 0; lead && lead->samples >= NAMED_COUNT && i < lead->count; i++)
		if (takes(&lead->lines[i], NAMED_SHARE) && !lead->lines[i].is_loop)
			return &lead->lines[i];
	return NULL;
}

const struct line_share *lines_of_function(const struct line_lead *steps)
{
	const struct line_share *ret = NULL;

	for (size_t i = 0; i < steps->count && i < LINE_SUMMED; i++) {
		const struct line_share *line = &steps->lines[i];

		if (line->is_own && !line->is_loop && !line->is_backward &&
		    line->share <= LINE_IS_STEP && is_of_function(line, OWN_OF_STEP) &&
		    (!ret || line->of_function > ret->of_function))
			ret = line;
	}
	return ret;
}

bool lines_lead_in_gaps(const struct lines *lines)
{
	const struct line_share *line = lines_leading(lines, LINE_AFTERS);

	return line && line->gap_ns > line->ns / 2;
}

const struct line_share *lines_of_step(const struct lines *lines, double stall_ratio)
{
	const struct line_lead *steps = lines ? &lines->groups[LINE_STEPS] : NULL;
	const struct line_share *first = steps ? steps->lines : NULL;

	if (!steps || !steps->count || steps->samples < NAMED_COUNT || !first->is_own ||
	    !(stall_ratio < STALL_HIGH) || first->share > LINE_IS_STEP ||
	    (first->share - first->error) * (1 - stall_ratio) < fmax(LEAST_OF_STEP, stall_ratio))
		return NULL;
	return first;
}

double lines_function_share(const struct lines *lines, bool with_calls)
{
	const struct line_share *line = lines_leading(lines, LINE_LOADS);
	bool calls;

	if (!line || (!with_calls && !line->is_own))
		return 0;
	calls = line->inner != line->frame && line->inner_share >= CALLS_SHARE && !line->is_wrapped;
	return calls && !with_calls ? 0 : line->of_function;
}

static const struct line_share *name_within(const struct lines *lines)
{
	const struct line_lead *lead = &lines->within;

	for (size_t i = 0; i < lead->count; i++)
		if (takes(&lead->lines[i], NAMED_SHARE) && !lead->lines[i].is_waiter)
			return &lead->lines[i];
	return NULL;
}

bool lines_name(const struct lines *lines, const struct finding *finding,
		const struct diagnosis *diagnosis, struct line_named *ret)
{
	const enum line_group group = group_of_cause[diagnosis->cause];
	const struct line_lead *lead, *holders;
	const struct line_share *own;
	const bool names_loops = diagnosis->cause == CAUSE_IDLE_PASSES;
	bool is_asking;

	if (group == LINE_NONE || lines->groups[group].samples < NAMED_COUNT)
		return false;
	lead = &lines->groups[group];
	holders = &lines->holders[group];
	*ret = (struct line_named){.group = group};
	/* Here the line is the cause, so it need not take a quarter of the steps. */
	if (diagnosis->cause == CAUSE_STEP_LINE) {
		ret->line = lines_of_step(lines, finding->stall_ratio);
		return ret->line;
	}
	if (diagnosis->cause == CAUSE_STEPS_HELD && holders->count) {
		ret->line = &holders->lines[0];
		ret->is_holder = true;
		return true;
	}
	/* The holders are threads of the training's process, so they do not delay a worker. */
	if (holders->count && (group != LINE_LOADS || diagnosis->cause == CAUSE_SINGLE_PROCESS) &&
	    takes(&holders->lines[0], HELD_SHARE)) {
		ret->line = &holders->lines[0];
		ret->is_holder = true;
		return true;
	}
	/* A serial stage has threads of its own: the training's line only asks for the batch. */
	if (diagnosis->cause == CAUSE_SERIAL_STAGE)
		return false;
	for (size_t i = 0; i < lead->count && !ret->line; i++)
		if (takes(&lead->lines[i], NAMED_SHARE) && lead->lines[i].is_loop <= names_loops &&
		    may_be_pauses(&lead->lines[i], finding, diagnosis))
			ret->line = &lead->lines[i];
	own = group == LINE_STEPS ? lines_of_function(lead) : NULL;
	if (own && may_be_pauses(own, finding, diagnosis))
		ret->line = own;
	for (size_t i = 0; group != LINE_STEPS && i < lead->count && !ret->line; i++)
		if (is_of_function(&lead->lines[i], NAMED_SHARE) && !lead->lines[i].is_loop)
			ret->line = &lead->lines[i];
	if (!ret->line &&
	    (diagnosis->cause == CAUSE_SAMPLER || diagnosis->cause == CAUSE_EPOCH_START))
		ret->line = name_within(lines);
	lead = &lines->groups[LINE_LOADS];
	is_asking = diagnosis->cause == CAUSE_WORKER_INTERPRETER ||
		    (diagnosis->cause == CAUSE_DELIVERY && lines->asking_share >= ASKING_SHARE);
	if (!ret->line && is_asking && lead->samples >= NAMED_COUNT &&
	    takes(&lead->lines[0], NAMED_SHARE)) {
		ret->line = &lead->lines[0];
		ret->group = LINE_LOADS;
	}
	return ret->line != NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dlprof/units.h"

#define NORMAL_95 1.96

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

const char *const line_group_names[LINE_GROUP_MAX] = {[LINE_LOADS] = "loads",
						      [LINE_WAITS] = "waits",
						      [LINE_STEPS] = "steps",
						      [LINE_REST] = "other"};

static const enum line_group group_of[LINE_PHASE_MAX] = {
#define X(id, name, group) [LINE_##id] = LINE_##group,
	LINE_PHASES(X)
#undef X
};

bool lines_is_own(const char *file)
{
	/* Where Python and what pip, conda and Debian install lie; and code without a file. */
	static const char *const foreign[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
					      "/lib64/python3", "<"};
	/* What the user typed, or gave to exec(), and cells of a notebook before ipykernel 6. */
	static const char *const typed[] = {"<stdin>", "<string>", "<ipython-input-"};

	for (size_t i = 0; i < ARRAY_COUNT(typed); i++)
		if (strncmp(file, typed[i], strlen(typed[i])) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_COUNT(foreign); i++)
		if (strstr(file, foreign[i]))
			return false;
	return strcmp(file, "") != 0;
}

double lines_effective_count(int64_t count, double ns)
{
	const double least = (double)LINE_LEAST_NS, most = (double)LINE_MOST_NS;
	double n = (double)count, squares = (least + most) * ns - n * least * most;

	if (!(n > 0) || !(ns > 0))
		return 0;
	/* Weights beyond the limits are of a damaged file. */
	if (!(squares > ns * ns / n))
		return n;
	return ns * ns / squares;
}

/* The frame that a stack's time is put down to. */
static size_t leading(const struct line_samples *samples, const struct line_stack *stack)
{
	for (size_t i = 0; i < stack->depth; i++)
		if (samples->frames[stack->frames[i]].is_own)
			return i;
	return 0;
}

/* One stack's time at its line, while lines are being summed. */
struct piece {
	uint32_t frame, inner;
	enum line_role role;
	int64_t count;
	double ns;
};

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

/* Sums the pieces of one line; they are sorted by their innermost frame. */
static struct line_share sum(const struct piece *pieces, size_t count)
{
	struct line_share line = {.frame = pieces->frame};
	double inner_ns = 0, most_ns = 0, role_ns[LINE_ROLE_MAX] = {0};

	for (size_t i = 0; i < count; i++) {
		inner_ns = i && pieces[i].inner == pieces[i - 1].inner ? inner_ns : 0;
		inner_ns += pieces[i].ns;
		if (inner_ns > most_ns) {
			most_ns = inner_ns;
			line.inner = pieces[i].inner;
		}
		line.ns += pieces[i].ns;
		line.count += pieces[i].count;
		role_ns[pieces[i].role] += pieces[i].ns;
		if (role_ns[pieces[i].role] > role_ns[line.role])
			line.role = pieces[i].role;
	}
	line.inner_share = line.ns > 0 ? most_ns / line.ns : 0;
	return line;
}

static int lead(struct piece *pieces, size_t count, struct line_lead *ret)
{
	double effective;

	*ret = (struct line_lead){.lines = calloc(count + 1, sizeof(*ret->lines))};
	if (!ret->lines)
		return -ENOMEM;
	qsort(pieces, count, sizeof(*pieces), by_frame);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin; end < count && pieces[end].frame == pieces[begin].frame; end++) {
			ret->ns += pieces[end].ns;
			ret->samples += pieces[end].count;
		}
		ret->lines[ret->count++] = sum(pieces + begin, end - begin);
	}
	qsort(ret->lines, ret->count, sizeof(*ret->lines), by_time);
	effective = lines_effective_count(ret->samples, ret->ns);
	for (size_t i = 0; i < ret->count; i++) {
		struct line_share *line = &ret->lines[i];

		line->share = ret->ns > 0 ? line->ns / ret->ns : 0;
		line->error =
			effective > 0
				? NORMAL_95 * sqrt(line->share * (1 - line->share) / effective)
				: NAN;
	}
	return 0;
}

/* Whether a stack counts in a group: of the threads that load or train, or of the others. */
static bool counts(const struct line_stack *stack, int64_t loader_id, enum line_group group,
		   bool is_holder)
{
	return group_of[stack->phase] == group && (stack->role == LINE_ROLE_THREAD) == is_holder &&
	       (!loader_id || !stack->loader_id || stack->loader_id == loader_id);
}

static int find(const struct line_samples *samples, int64_t loader_id, enum line_group group,
		bool is_holder, struct piece *pieces, struct line_lead *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];

		if (counts(stack, loader_id, group, is_holder))
			pieces[count++] = (struct piece){stack->frames[leading(samples, stack)],
							 stack->frames[0], stack->role,
							 stack->count, (double)stack->ns};
	}
	return lead(pieces, count, ret);
}

int lines_find(const struct line_samples *samples, int64_t loader_id, struct lines *ret)
{
	struct piece *pieces = calloc(samples->stack_count + 1, sizeof(*pieces));
	int r = pieces ? 0 : -ENOMEM;

	*ret = (struct lines){0};
	for (int group = 0; r == 0 && group < LINE_GROUP_MAX; group++) {
		r = find(samples, loader_id, group, false, pieces, &ret->groups[group]);
		if (r == 0)
			r = find(samples, loader_id, group, true, pieces, &ret->holders[group]);
	}
	free(pieces);
	if (r < 0)
		lines_done(ret);
	return r;
}

void lines_done(struct lines *lines)
{
	for (int group = 0; group < LINE_GROUP_MAX; group++) {
		free(lines->groups[group].lines);
		free(lines->holders[group].lines);
	}
	*lines = (struct lines){0};
}

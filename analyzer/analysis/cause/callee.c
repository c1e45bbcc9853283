/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/callee.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/array.h"

#define MOSTLY 0.5

/* A function that the line calls: its time, and how many calls lie between, weighted by time. */
struct callee {
	uint32_t frame;
	const struct line_stack *last; /* stack that was added last */
	double ns, depth_ns;
};

struct callees {
	struct callee *items;
	size_t count;
	double ns; /* time of the line */
};

/* Returns true if a function only passes a call on, or only waits, as far as its name tells. */
static bool passes_on(const struct line_frame *frame)
{
	static const char *const names[] = {"wrapper", "wrapped", "inner", "decorate_context"};
	const char *name = lines_bare_name(frame->function);

	for (size_t i = 0; i < ARRAY_COUNT(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return *name == '_' || *name == '<' || frame->does & LINE_WRAPS || frame->is_waiter;
}

/* Adds a frame that lies `depth` calls below the line. In one stack, recursion counts once. */
static int add(struct callees *callees, const struct line_samples *samples,
	       const struct line_stack *stack, uint32_t frame, double depth)
{
	struct callee *found = NULL;

	for (size_t i = 0; i < callees->count && !found; i++)
		if (lines_is_same_function(&samples->frames[callees->items[i].frame],
					   &samples->frames[frame]))
			found = &callees->items[i];
	if (!found) {
		if (!ARRAY_GROW(callees->items, callees->count))
			return -ENOMEM;
		found = &callees->items[callees->count++];
		*found = (struct callee){.frame = frame};
	}
	if (found->last == stack)
		return 0;
	found->last = stack;
	found->ns += (double)stack->ns;
	found->depth_ns += depth * (double)stack->ns;
	return 0;
}

/* Adds the functions between a stack's innermost frame and the line. */
static int add_stack(struct callees *callees, const struct line_samples *samples,
		     const struct line_stack *stack, uint32_t line)
{
	const struct line_frame *frames = samples->frames;
	size_t own = 0;
	int r = 0;

	while (own < stack->depth && !frames[stack->frames[own]].is_own)
		own++;
	if (own == stack->depth || stack->frames[own] != line)
		return 0;
	callees->ns += (double)stack->ns;
	for (size_t i = own; r == 0 && i-- > 0;)
		if (!passes_on(&frames[stack->frames[i]]))
			r = add(callees, samples, stack, stack->frames[i], (double)(own - i));
	return r;
}

int callee_find(const struct line_samples *samples, const struct line_filter *filter, uint32_t line,
		uint32_t *ret_frame)
{
	struct callees callees = {0};
	double deepest = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < samples->stack_count; i++)
		if (lines_is_sampled(&samples->stacks[i]) &&
		    lines_passes(filter, &samples->stacks[i]))
			r = add_stack(&callees, samples, &samples->stacks[i], line);
	for (size_t i = 0; r >= 0 && i < callees.count; i++) {
		const struct callee *callee = &callees.items[i];

		if (callee->ns < MOSTLY * callees.ns || callee->depth_ns / callee->ns <= deepest)
			continue;
		deepest = callee->depth_ns / callee->ns;
		*ret_frame = callee->frame;
		r = 1;
	}
	free(callees.items);
	return r;
}

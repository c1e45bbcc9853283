/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/around.h"

#include <math.h>

#define COUNT_LEAST 30 /* with fewer stack samples, nothing is said */

/* Returns the outermost frame of an iterator's __next__() or __iter__(); `depth`: there is none. */
static size_t outermost_iterator(const struct line_samples *samples, const struct line_stack *stack)
{
	for (size_t i = stack->depth; i-- > 0;)
		if (samples->frames[stack->frames[i]].does & LINE_ITERATES)
			return i;
	return stack->depth;
}

void around_find(const struct line_samples *samples, int64_t loader_id, struct line_around *ret)
{
	const struct line_filter filter = lines_filter(samples, loader_id, LINE_STEPS);
	double ns = 0, found_ns = 0, longest_ns = 0;
	int64_t count = 0;

	*ret = (struct line_around){0};
	for (size_t i = 0; i < samples->stack_count; i++) {
		const struct line_stack *stack = &samples->stacks[i];
		const double stack_ns = (double)stack->ns;
		size_t at;

		if (stack->role != LINE_ROLE_MAIN || !lines_passes(&filter, stack))
			continue;
		count += stack->count;
		ns += stack_ns;
		at = outermost_iterator(samples, stack);
		if (at == stack->depth)
			continue;
		found_ns += stack_ns;
		if (stack_ns > longest_ns) {
			longest_ns = stack_ns;
			ret->frame = stack->frames[at];
		}
	}
	if (count < COUNT_LEAST || !(found_ns > 0) || found_ns > LINE_IS_STEP * ns)
		return;
	ret->share = found_ns / ns;
	ret->error = lines_error(ret->share, lines_effective_count(count, ns));
}

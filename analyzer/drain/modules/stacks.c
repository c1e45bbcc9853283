/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/modules/stacks.h"

#include "drain/modules/module.h"
#include "drain/modules/unwind.h"

/* a stack is dropped if its record was not found in this many attempts */
#define PATIENCE 3

static int take(struct writer *writer, struct segment *segment, size_t place,
		const struct dlprof_stack *stack)
{
	static char text[4096];
	struct modules *modules = modules_of(alive_number(&segment->alive));
	bool found = true;
	int r = 0;

	if (modules && unwind_text(modules, stack, text, sizeof(text)) > 0)
		r = writer_stack(writer, (int64_t)stack->begin_ns, stack->tid, text, &found);
	if (r < 0)
		return r;
	if (!found && ++segment->stack_tries[place] < PATIENCE)
		return 0;
	segment->stack_tries[place] = 0;
	return segment_free_stack(segment, place);
}

int stacks_take(struct writer *writer, struct segment *segment, int most, int *ret_done)
{
	static struct dlprof_stack stack;
	int r = 0;

	*ret_done = 0;
	for (size_t i = 0; r == 0 && i < DLPROF_STACK_COUNT && *ret_done < most; i++) {
		bool full;

		r = segment_read_stack(segment, i, &stack, &full);
		if (r < 0 || !full)
			continue;
		r = take(writer, segment, i, &stack);
		++*ret_done;
	}
	return r;
}

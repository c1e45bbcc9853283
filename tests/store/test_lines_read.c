/* SPDX-License-Identifier: Apache-2.0 */
/* What the lines of stack samples are, by their files and functions. */
#include <criterion/criterion.h>
#include <string.h>

#include "analysis/cause/lines.h"
#include "one_run.h"
#include "store/run/lines.h"

TestSuite(lines_read, .init = one_run_begin, .fini = one_run_end);

#define PACKAGES "/usr/lib/python3/dist-packages/"
#define LOADER   PACKAGES "torch/utils/data/dataloader.py"

Test(lines_read, what_a_line_does)
{
	static const struct {
		const char *file, *function;
		bool is_own, is_queue, is_waiter;
		unsigned does;
	} rows[] = {
		{"/home/me/train.py", "main", true, false, false, 0},
		{"/home/me/train.py", "Data.__getitem__", true, false, false, LINE_GETS_ITEM},
		{"/home/me/train.py", "Data.__getitems__", true, false, false, LINE_GETS_ITEMS},
		{PACKAGES "torch/utils/data/dataset.py", "Subset.__getitems__", false, false,
		 false, 0},
		{LOADER, "_BaseDataLoaderIter._next_index", false, false, true, LINE_CHOOSES},
		{LOADER, "_BaseDataLoaderIter._reset", false, false, true, LINE_CHOOSES},
		{LOADER, "_BaseDataLoaderIter.__init__", false, false, true, LINE_CHOOSES},
		{LOADER, "DataLoader.__init__", false, false, true, 0},
		{"/home/me/my.py", "_next_index", true, false, false, 0},
		{"/usr/lib/python3.11/multiprocessing/queues.py", "Queue.get", false, true, true,
		 0},
		{"/usr/lib/python3.11/multiprocessing/queues.py", "Queue.put", false, false, true,
		 0},
		{"/home/me/multiprocessing/queues.py", "Queue.get", true, false, false, 0},
		{"/usr/lib/python3.11/queue.py", "Queue.get", false, false, true, 0},
		{"/usr/lib/python3.11/threading.py", "Condition.wait", false, false, true, 0},
		{"/usr/lib/python3.11/multiprocessing/resource_sharer.py", "x", false, false, true,
		 LINE_SHARES},
		{PACKAGES "torch/_dynamo/convert_frame.py", "f", false, false, false,
		 LINE_COMPILES},
		{PACKAGES "torch/nn/convert_frame.py", "f", false, false, false, 0},
		{PACKAGES "torch/_dynamo/eval_frame.py", "f", false, false, false, 0},
	};
	struct line_samples samples;
	char sql[400];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(sql, sizeof(sql), "INSERT INTO t_frame VALUES (%zu, '%s', '%s', %zu)",
			 10 + i, rows[i].file, rows[i].function, i);
		run_sql(sql);
	}
	cr_assert_eq(lines_read(db, &samples), 0);
	cr_assert_eq(samples.frame_count, sizeof(rows) / sizeof(*rows));
	for (size_t i = 0; i < samples.frame_count; i++) {
		const struct line_frame *frame = &samples.frames[i];

		cr_expect_str_eq(frame->file, rows[i].file);
		cr_expect_eq(frame->line, i);
		cr_expect_eq(frame->is_own, rows[i].is_own, "%s", rows[i].file);
		cr_expect_eq(frame->is_queue, rows[i].is_queue, "%s", rows[i].file);
		cr_expect_eq(frame->is_waiter, rows[i].is_waiter, "%s", rows[i].file);
		cr_expect_eq(frame->does, rows[i].does, "%s of %s: %x", rows[i].function,
			     rows[i].file, frame->does);
	}
	lines_free(&samples);
}

Test(lines_read, stacks_that_cannot_be_are_left_out)
{
	struct line_samples samples;

	run_sql("INSERT INTO t_frame VALUES (3, '/a.py', 'f', 1), (5, '/b.py', 'g', 2);"
		"INSERT INTO t_stack VALUES ('main', 1, 'load', '5 3', 2, 30),"
		" ('main', 1, 'not_ready', '3 4 5 x', 1, 10), ('main', -7, 'step', '3', 1, 10),"
		" ('main', 1, 'other', '', 1, 10), ('main', 1, 'other', '9', 1, 10),"
		" ('main', 1, 'receiving', '3', 0, 10), ('main', 1, 'sampling', '3', 1, -10),"
		" ('main', 1, 'nothing', '3', 1, 10), ('nobody', 1, 'load', '3', 1, 10),"
		" ('main', 2, 'load', '3', 1, 36028797018963969),"
		" ('main', 3, 'load', '3', 1099511627777, 10),"
		" ('main', 4, 'load', '3', 1099511627776, 36028797018963968)");
	cr_assert_eq(lines_read(db, &samples), 0);
	cr_assert_eq(samples.stack_count, 4);
	for (size_t i = 0; i < samples.stack_count; i++) {
		const struct line_stack *stack = &samples.stacks[i];

		switch (stack->loader_id) {
		case 0:
			cr_expect(stack->phase == LINE_STEP && stack->depth == 1);
			break;
		case 1:
			cr_assert_eq(stack->depth, 2, "unknown lines are left out");
			cr_expect_eq(stack->frames[0], stack->phase == LINE_LOAD ? 1 : 0);
			cr_expect_eq(stack->frames[1], stack->phase == LINE_LOAD ? 0 : 1);
			cr_expect_eq(stack->count, stack->phase == LINE_LOAD ? 2 : 1);
			break;
		default:
			cr_expect(stack->loader_id == 4 && stack->depth == 1);
		}
	}
	lines_free(&samples);
}

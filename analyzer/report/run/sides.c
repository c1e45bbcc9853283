/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run/sides.h"

#include "report/run/judge.h"
#include "store/database/db_open.h"

static int add_batch(const struct batch_record *batch, void *context)
{
	const struct load_times times = batch_times(batch);
	const double parts[STEP_TOLD_MAX] = {
		[STEP_BEFORE] = query_known(batch->before_ns),
		[STEP_BACKWARD] = query_known(batch->backward_ns),
		[STEP_BETWEEN] = query_known(batch->between_ns),
		[STEP_OPTIMIZER] = query_known(batch->optimizer_ns),
		[STEP_SAVE] = query_known(batch->save_ns),
	};
	int r = compare_add_load(context, &times, query_known(batch->transfer_ns));

	return r ? r : compare_add_parts(context, parts);
}

static int read_side(const struct options *options, const struct report *report,
		     struct compare_side *side)
{
	struct options one = *options;
	struct db *db;
	struct recovered recovered;
	int r = 0, status;

	one.run = report->path;
	one.quiet = true; /* remarks were printed when the run was judged */
	status = cmd_open_run(&one, &db, &recovered);
	if (status)
		return status;
	if (report->loader)
		r = batch_each(db, &report->filter, add_batch, side);
	db_close(db);
	if (r == 0)
		r = compare_add_series(side, &report->series, &report->finding);
	return r < 0 ? cmd_fail_read(&one, r) : 0;
}

int sides_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret)
{
	struct compare_side sides[2] = {{.block = 0}, {.block = 0}};
	unsigned diff;
	int status;

	*ret = (struct compared){.a = a, .b = b};
	judge_fingerprint(a, &ret->prints[0]);
	judge_fingerprint(b, &ret->prints[1]);
	diff = fingerprint_diff(&ret->prints[0], &ret->prints[1]);
	ret->mismatch =
		diff & (fingerprint_mask(FINGERPRINT_WORK) | fingerprint_mask(FINGERPRINT_PLACE));
	ret->changed = diff & fingerprint_mask(FINGERPRINT_SETTING);
	ret->noted = diff & fingerprint_mask(FINGERPRINT_NOTE);
	status = read_side(options, a, &sides[0]);
	if (!status)
		status = read_side(options, b, &sides[1]);
	if (!status)
		compare_runs(&sides[0], &sides[1], &ret->comparison);
	compare_side_done(&sides[0]);
	compare_side_done(&sides[1]);
	return status;
}

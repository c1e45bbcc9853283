/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.c - `dlprof-report compare A B`: shows what changed from one run to the other. */
#include <stdlib.h>

#include "render/run/compare.h"
#include "report/ranks.h"
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

static int put(const struct options *options, const void *what, const struct page *page)
{
	struct outline outline;

	if (options->json) {
		compare_json(what, page->out);
		return 0;
	}
	compare_outline(what, &outline);
	return outline_show(&outline, page, false);
}

static int says(const struct compared *compared)
{
	return compared->mismatch || compared->comparison.result == COMPARE_CANNOT_SAY
		       ? CMD_CANNOT_SAY
		       : CMD_DONE;
}

static int compare(const struct options *options, struct report *a, struct report *b)
{
	struct compared compared = {.a = a, .b = b};
	struct compare_side sides[2] = {{.block = 0}, {.block = 0}};
	unsigned diff;
	int status;

	judge_fingerprint(a, &compared.prints[0]);
	judge_fingerprint(b, &compared.prints[1]);
	diff = fingerprint_diff(&compared.prints[0], &compared.prints[1]);
	compared.mismatch =
		diff & (fingerprint_mask(FINGERPRINT_WORK) | fingerprint_mask(FINGERPRINT_PLACE));
	compared.changed = diff & fingerprint_mask(FINGERPRINT_SETTING);
	compared.noted = diff & fingerprint_mask(FINGERPRINT_NOTE);
	status = read_side(options, a, &sides[0]);
	if (!status)
		status = read_side(options, b, &sides[1]);
	if (!status) {
		compare_runs(&sides[0], &sides[1], &compared.comparison);
		status = cmd_show(options, put, &compared, says(&compared));
	}
	compare_side_done(&sides[0]);
	compare_side_done(&sides[1]);
	return status;
}

static int judge_both(const struct options *options, char *const *paths)
{
	struct report a, b = {0};
	int status = judge_run(options, paths[0], true, &a);

	if (!status) {
		status = judge_run(options, paths[1], true, &b);
		if (!status)
			status = compare(options, &a, &b);
		judge_done(&b);
	}
	judge_done(&a);
	return status;
}

int cmd_compare(const struct options *options)
{
	char *paths[2] = {NULL, NULL};
	int status = ranks_pick(options, options->runs[0], &paths[0]);

	if (!status)
		status = ranks_pick(options, options->runs[1], &paths[1]);
	if (!status)
		status = judge_both(options, paths);
	free(paths[0]);
	free(paths[1]);
	return status;
}

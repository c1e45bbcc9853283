/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_compare.c - `dlprof-report compare A B`: shows what changed from one run to the other. */
#include <stdlib.h>

#include "report/ranks.h"
#include "report/run/judge.h"

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

static int judge_both(const struct options *options, char *const *paths)
{
	struct report a, b = {0};
	struct compared compared;
	int status = judge_run(options, paths[0], true, &a);

	if (!status)
		status = judge_run(options, paths[1], true, &b);
	if (!status)
		status = judge_compare(options, &a, &b, &compared);
	if (!status)
		status = cmd_show(options, put, &compared,
				  compared.mismatch ||
						  compared.comparison.result == COMPARE_CANNOT_SAY
					  ? CMD_CANNOT_SAY
					  : CMD_DONE);
	judge_done(&a);
	judge_done(&b);
	return status;
}

int cmd_compare(const struct options *options)
{
	char *paths[2] = {NULL, NULL};
	int status = ranks_pick(options, 0, &paths[0]);

	if (!status)
		status = ranks_pick(options, 1, &paths[1]);
	if (!status)
		status = judge_both(options, paths);
	free(paths[0]);
	free(paths[1]);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `dlprof-report --explain ID`. */
#include <string.h>

#include "render/explain.h"
#include "report/cmd.h"

static int put(const struct options *options, const void *what, const struct page *page)
{
	if (what)
		explain_print(page, what);
	else
		explain_list(page);
	return 0;
}

int cmd_explain(const struct options *options)
{
	const struct explanation *explanation = explain_find(options->explain);

	if (!explanation && strcmp(options->explain, "all") != 0)
		return cmd_fail("nothing is called '%s'; --explain all lists what is",
				options->explain);
	return cmd_show(options, put, explanation, CMD_DONE);
}

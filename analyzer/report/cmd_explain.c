/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `dlprof-report --explain ID`. */
#include <string.h>

#include "render/explain.h"
#include "report/cmd.h"

int cmd_explain(const struct options *options)
{
	const struct explanation *explanation = explain_find(options->explain);
	struct output output;
	struct page page;
	int status;

	if (!explanation && strcmp(options->explain, "all") != 0)
		return cmd_fail("nothing is called '%s'; --explain all lists what is",
				options->explain);
	status = cmd_open_output(options, &output);
	if (status)
		return status;
	page = cmd_page(options, &output);
	if (explanation)
		explain_print(&page, explanation);
	else
		explain_list(&page);
	return cmd_close_output(&output, CMD_DONE);
}

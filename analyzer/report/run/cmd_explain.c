/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - `dlprof-report --explain ID`: shows the page about a cause, advice or metric. */
#include <string.h>

#include "line/near.h"
#include "render/run/explain.h"
#include "report/cmd.h"

static int put(const struct options *options, const void *what, const struct page *page)
{
	if (what)
		explain_print(page, what);
	else
		explain_list(page);
	return 0;
}

static int refuse(const char *id)
{
	const struct explanation *explanation;
	struct near near = {id, strlen(id)};
	char words[NEAR_WORDS];

	for (size_t i = 0; (explanation = explain_at(i)) != NULL; i++)
		near_try(&near, explanation->id);
	near_words(&near, "", words);
	return cmd_fail("nothing is called '%s'%s%s", id, words,
			*words ? "" : "; --explain all lists every name");
}

int cmd_explain(const struct options *options)
{
	const struct explanation *explanation = explain_find(options->explain);

	if (!explanation && strcmp(options->explain, "all") != 0)
		return refuse(options->explain);
	return cmd_show(options, put, explanation, CMD_DONE);
}

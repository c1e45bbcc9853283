/* SPDX-License-Identifier: Apache-2.0 */
/* Every finding of the report has a page in `dlprof explain`. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/advice.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/skipped.h"
#include "render/run/explain.h"

static void check(const char *id, const char *kind)
{
	const struct explanation *page = explain_find(id);

	cr_expect_not_null(page, "no page for %s", id);
	if (!page)
		return;
	cr_expect(strcmp(page->kind, kind) == 0 || strcmp(id, "none") == 0, "%s is no %s", id,
		  kind);
	cr_expect_gt(strlen(page->line), 10, "%s", id);
	cr_expect_gt(strlen(page->page), 10, "%s", id);
}

Test(explain, every_cause_and_advice_has_a_page)
{
	int id;

	for (id = CAUSE_UNKNOWN + 1; id < CAUSE_MAX; id++)
		check(cause_names[id], "cause");
	for (id = 0; id < ADVICE_MAX; id++)
		check(advice_names[id], "advice");
}

Test(explain, so_has_every_metric_of_compare_and_of_ranks)
{
	static const char *const ids[] = {"noise", "culprit", "blame_share", "lag", "batches"};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		check(ids[i], "metric");
	cr_assert_null(explain_find("nonsense"));
}

Test(explain, the_page_of_skipped_batches_has_the_limit_of_the_code)
{
	char limit[32];

	snprintf(limit, sizeof(limit), "at most %g ms)", SKIPPED_STEP_NS / 1e6);
	cr_expect_not_null(strstr(explain_find("skipped_batches")->page, limit), "%s", limit);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `dlprof-report RUN`: judges the run, and shows it. */
#include "report/run/judge.h"

static int put(const struct options *options, const void *what, const struct page *page)
{
	if (options->markdown)
		return report_markdown(what, options->verbose, page->out);
	if (options->coverage && !options->json)
		return report_coverage(what, page);
	if (!options->json)
		return report_text(what, options->verbose, page);
	report_json(what, page->out);
	return 0;
}

int cmd_report(const struct options *options)
{
	struct report report;
	int status = judge_run(options, options->run, true, &report);

	if (!status)
		status = cmd_show(options, put, &report, judge_status(&report));
	judge_done(&report);
	return status;
}

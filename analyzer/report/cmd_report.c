/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `dlprof-report RUN`: judge the run, show it. */
#include "report/judge.h"
#include "report/ranks.h"

static int put(const struct options *options, const void *what, const struct page *page)
{
	if (options->markdown)
		return report_markdown(what, options->verbose, page->out);
	if (!options->json)
		return report_text(what, options->verbose, page);
	report_json(what, page->out);
	return 0;
}

int cmd_report_run(const struct options *options, const char *path)
{
	struct options one = *options;
	struct report report;
	int status;

	one.run = path;
	status = judge_run(&one, path, &report);
	if (!status)
		status = cmd_show(&one, put, &report,
				  judge_status(&report));
	judge_done(&report);
	return status;
}

int cmd_report(const struct options *options)
{
	return ranks_are_meant(options) ? cmd_ranks(options)
					: cmd_report_run(options, options->run);
}

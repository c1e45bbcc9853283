/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `dlprof-report RUN`: judge the run, show it. */
#include "report/judge.h"

static int show(const struct options *options, const struct report *report)
{
	struct output output;
	struct page page;
	int status;

	status = cmd_open_output(options, &output);
	if (status)
		return status;
	page = cmd_page(options, &output);
	if (options->json)
		report_json(report, output.file);
	else
		report_text(report, &page);
	return cmd_close_output(&output, report->series.count ? CMD_DONE : CMD_CANNOT_SAY);
}

int cmd_report(const struct options *options)
{
	struct report report;
	int status = judge_run(options, options->run, &report);

	if (!status)
		status = show(options, &report);
	judge_done(&report);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - `dlprof-report RUN`: judge the run, show it. */
#include "report/judge.h"
#include "report/ranks.h"

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

int cmd_report_run(const struct options *options, const char *path)
{
	struct options one = *options;
	struct report report;
	int status;

	one.run = path;
	status = judge_run(&one, path, &report);
	if (!status)
		status = show(&one, &report);
	judge_done(&report);
	return status;
}

int cmd_report(const struct options *options)
{
	if (options->run_count > 1 || ranks_is_folder(options->run))
		return cmd_ranks(options);
	return cmd_report_run(options, options->run);
}

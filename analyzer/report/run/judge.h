/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - read a run and judge it: what the report, compare, gate and the like begin with. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/report.h"
#include "report/cmd.h"

/*
 * Everything of the run at `path` (which must outlive *ret) within the loader, epoch, batches and
 * rank that `options` name; `advises`: with predictions and advice. Prints what went wrong. 0 or
 * CMD_ERROR, where `live` says whether there may be more of it soon; judge_done() in either case.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

void judge_done(struct report *report);

/* What kind of run it is; texts are the report's. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/*
 * CMD_CANNOT_SAY where there are too few batches, or more is missing than a verdict bears. What was
 * never to be seen of a run (a log of step times alone) is no reason: the rest is said.
 */
int judge_status(const struct report *report);

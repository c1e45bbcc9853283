/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - read a run and judge it, as the report, compare and the gate do first. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/report.h"
#include "report/cmd.h"

/*
 * Reads and judges the run at `path` (which must outlive *ret), restricted to the loader, epoch,
 * batches and rank in `options`; `advises`: with predictions and advice. Prints what went wrong. 0
 * or CMD_ERROR, where `live` tells whether there may be more of it soon; judge_done() in either
 * case.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

void judge_done(struct report *report);

/* Gathers the settings of a run, for comparing; texts are the report's. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/*
 * CMD_CANNOT_SAY if there are too few batches, or too much is missing for a verdict. A run that
 * never had more (a log of step times alone) is fine: the rest is told.
 */
int judge_status(const struct report *report);

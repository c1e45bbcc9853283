/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - reads a run and judges it, which the report, compare and the gate do first. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/report.h"
#include "report/cmd.h"

/*
 * Reads and judges the run at `path` (which must outlive *ret), restricted to the loader, epoch,
 * batches and rank in `options`; `advises`: with predictions and advice. Prints what went wrong.
 * Returns 0 or CMD_ERROR, with ret->live if the run may have more soon; call judge_done() in both
 * cases.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

void judge_done(struct report *report);

/* Gathers the settings of a run to compare them; `report` owns the texts. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/*
 * Returns CMD_CANNOT_SAY if there are too few batches, or too much is missing, for a verdict; else
 * CMD_DONE, also for a log of step times, which has no more to judge.
 */
int judge_status(const struct report *report);

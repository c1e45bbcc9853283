/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - reads a run and judges it: the first step of the report, compare and the gate. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/compare.h"
#include "report/cmd.h"

/*
 * Reads and judges the run at `path` (which must outlive *ret), or the part of it that the options
 * select by loader, epoch, batches and rank. If `advises`, also makes predictions and advice.
 * Prints what went wrong. Returns 0 or CMD_ERROR, with ret->live set if the run may soon have more
 * data. Call judge_done() in both cases.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

void judge_done(struct report *report);

/* Gathers the settings of a run for a comparison. The texts belong to `report`. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/* Compares `b` with `a`; *ret refers to both. Prints what went wrong. Returns 0 or CMD_ERROR. */
int judge_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret);

/*
 * Returns CMD_CANNOT_SAY if there are too few batches, too many lost records, or the verdict is in
 * doubt. Else returns CMD_DONE; also for a log of step times, which never has a verdict.
 */
int judge_status(const struct report *report);

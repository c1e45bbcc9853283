/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - reads a run and judges it: the first step of the report, compare and the gate. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/compare.h"
#include "report/cmd.h"

/*
 * Judges the part of a run that the options select; `path` must outlive *ret. `advises` adds
 * predictions and advice. Returns 0 or CMD_ERROR; ret->live is set if the run still records. Call
 * judge_done() in both cases.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

void judge_done(struct report *report);

/* The texts belong to `report`. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/* *ret refers to both. Prints what went wrong. Returns 0 or CMD_ERROR. */
int judge_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret);

/* CMD_CANNOT_SAY: too few batches, too many lost records, or a verdict in doubt. */
int judge_status(const struct report *report);

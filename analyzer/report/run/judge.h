/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - reads a run and judges it: the first step of the report, compare and the gate. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/compare.h"
#include "report/cmd.h"

/*
 * Judges the part of a run that the options select; `path` must outlive *ret. If `advises`, *ret
 * has predictions and advice. Returns 0 or CMD_ERROR; call judge_done() in both cases.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

/* Reads more of a run that was judged, from the open database. Returns 0 or -errno. */
typedef int judge_more(struct db *db, const struct report *report, void *context);

int judge_and_read(const struct options *options, const char *path, bool advises,
		   struct report *ret, judge_more *more, void *context);

void judge_done(struct report *report);

/* Makes the fingerprint of a run; `report` owns its texts. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/* Compares two runs; *ret points to both. Returns 0, or CMD_ERROR after printing the reason. */
int judge_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret);

/* Returns CMD_CANNOT_SAY for too few batches, many lost records or a verdict in doubt; else 0. */
int judge_status(const struct report *report);

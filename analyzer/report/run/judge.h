/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - reads and judges a run: the first step of the report, of compare and of the gate. */
#pragma once

#include "analysis/gate/fingerprint.h"
#include "render/run/compare.h"
#include "report/cmd.h"

/*
 * Judges that part of a run that the options select. `path` must outlive *ret. `advises`:
 * predictions and advice are made, too. Returns 0 or CMD_ERROR; call judge_done() in both cases.
 */
int judge_run(const struct options *options, const char *path, bool advises, struct report *ret);

/* Reads more about a judged run from its open database. Returns 0 or -errno. */
typedef int judge_more(struct db *db, const struct report *report, void *context);

int judge_and_read(const struct options *options, const char *path, bool advises,
		   struct report *ret, judge_more *more, void *context);

void judge_done(struct report *report);

/* Makes a run's fingerprint. Its texts belong to `report`. */
void judge_fingerprint(const struct report *report, struct fingerprint *ret);

/* Compares a and b; *ret points to them. Returns 0, or CMD_ERROR after it printed the reason. */
int judge_compare(const struct options *options, const struct report *a, const struct report *b,
		  struct compared *ret);

/* Returns CMD_CANNOT_SAY for too few batches, many lost records or a doubtful verdict, else 0. */
int judge_status(const struct report *report);

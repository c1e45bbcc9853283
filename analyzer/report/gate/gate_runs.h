/* SPDX-License-Identifier: Apache-2.0 */
/* gate_runs.h - the runs that a gate judges: files, and folders with files, read and judged. */
#pragma once

#include "render/gate/gate.h"
#include "report/cmd.h"

struct gate_runs {
	struct gate_run *list;
	size_t count;
};

/*
 * Reads every run that `words` name; a folder stands for its *.db. A run that does not exist is
 * marked as refused (with `may_lack`, for baselines), or else an error, which is printed. 0 or
 * CMD_ERROR; gate_runs_done() in either case.
 */
int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret);
void gate_runs_done(struct gate_runs *runs);

/* Sorts the oldest first; runs without a start time come before all others. */
void gate_runs_sort(struct gate_runs *runs);

/* Removes a run, as if it had not been named. */
void gate_runs_leave_out(struct gate_runs *runs, size_t i);

/* Marks for every baseline whether it can be compared with the runs, or why not. */
void gate_runs_match(const struct gate_runs *runs, struct gate_runs *baselines);

/* Whether both are the same run, whatever their files are called. */
bool gate_runs_are_one(const struct gate_run *a, const struct gate_run *b);

/* Tells in words why two runs cannot be compared; "" if they can. */
void gate_runs_difference(const struct gate_run *one, const struct gate_run *other, char *text,
			  size_t size);

/*
 * Copies a run whole into the folder, which is made if needed, under a name of its own. 0 or
 * -errno; -EBUSY: its journal was not written back.
 */
int gate_runs_keep(const struct gate_run *run, const char *folder, char *path, size_t size);

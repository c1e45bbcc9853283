/* SPDX-License-Identifier: Apache-2.0 */
/* gate_runs.h - reads and judges the runs of a gate: files, and folders of files. */
#pragma once

#include "render/gate/gate.h"
#include "report/cmd.h"

struct gate_runs {
	struct gate_run *list;
	size_t count;
};

/*
 * Reads every run that `words` name; a folder stands for all its *.db. A run that does not exist is
 * an error, which is printed; if `may_lack` (for baselines), it is only marked as refused. Returns
 * 0 or CMD_ERROR; call gate_runs_done() in both cases.
 */
int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret);
void gate_runs_done(struct gate_runs *runs);

/* Sorts runs by start time, the oldest first. Runs without a start time come first. */
void gate_runs_sort(struct gate_runs *runs);

/* Removes a run, as if the user had not named it. */
void gate_runs_leave_out(struct gate_runs *runs, size_t i);

/* For each baseline, sets whether it can be compared with the runs, and if not, why. */
void gate_runs_match(const struct gate_runs *runs, struct gate_runs *baselines);

/* Returns true if both are the same run, whatever their files' names are. */
bool gate_runs_are_one(const struct gate_run *a, const struct gate_run *b);

/* Writes why two runs cannot be compared; "" if they can. */
void gate_runs_difference(const struct gate_run *one, const struct gate_run *other, char *text,
			  size_t size);

/*
 * Copies a whole run into a folder, which is made if it does not exist, under a new name, and
 * stores the copy's path in `path`. Returns 0 or -errno; -EBUSY if the run's journal was not
 * written back.
 */
int gate_runs_keep(const struct gate_run *run, const char *folder, char *path, size_t size);

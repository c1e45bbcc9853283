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
 * Reads every run that `words` name; a folder stands for its *.db. With `may_lack`, for baselines,
 * a run that does not exist is marked as refused; else it is an error, which is printed. Returns 0
 * or CMD_ERROR; call gate_runs_done() in both cases.
 */
int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret);
void gate_runs_done(struct gate_runs *runs);

/* Sorts runs by start, the oldest first; runs without a start time come before all others. */
void gate_runs_sort(struct gate_runs *runs);

/* Removes a run, as if the user had not named it. */
void gate_runs_leave_out(struct gate_runs *runs, size_t i);

/* Sets in every baseline whether it can be compared with the runs, or why not. */
void gate_runs_match(const struct gate_runs *runs, struct gate_runs *baselines);

/* Returns true if both are the same run, under whatever file names. */
bool gate_runs_are_one(const struct gate_run *a, const struct gate_run *b);

/* Writes why two runs cannot be compared; "" if they can. */
void gate_runs_difference(const struct gate_run *one, const struct gate_run *other, char *text,
			  size_t size);

/*
 * Copies a whole run into the folder, which is made if needed, under a new name, and writes the
 * copy's path to `path`. 0 or -errno; -EBUSY: the run's journal was not written back.
 */
int gate_runs_keep(const struct gate_run *run, const char *folder, char *path, size_t size);

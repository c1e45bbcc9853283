/* SPDX-License-Identifier: Apache-2.0 */
/* gate_runs.h - reads and judges a gate's runs, which are files or folders of files. */
#pragma once

#include "render/gate/gate.h"
#include "report/cmd.h"

struct gate_runs {
	struct gate_run *list;
	size_t count;
};

/*
 * Reads and judges runs. `words` are files, or folders with *.db files. A run that is missing is an
 * error or, with `may_lack` (for baselines), listed as refused. Returns 0 or CMD_ERROR; call
 * gate_runs_done() in both cases.
 */
int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret);
void gate_runs_done(struct gate_runs *runs);

/* Sorts runs by their start. Runs without a known start come first. */
void gate_runs_sort(struct gate_runs *runs);

void gate_runs_leave_out(struct gate_runs *runs, size_t i);

void gate_runs_match(const struct gate_runs *runs, struct gate_runs *baselines);

/* Returns true if two files are of one run, whatever their names. */
bool gate_runs_are_one(const struct gate_run *a, const struct gate_run *b);

/* Writes why two runs cannot be compared; "" if they can be. */
void gate_runs_difference(const struct gate_run *one, const struct gate_run *other, char *text,
			  size_t size);

/* Copies a run into a folder as `path`. -EBUSY: the run's journal is not yet written back. */
int gate_runs_keep(const struct gate_run *run, const char *folder, char *path, size_t size);

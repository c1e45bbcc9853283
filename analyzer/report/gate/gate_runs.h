/* SPDX-License-Identifier: Apache-2.0 */
/* gate_runs.h - the runs that a gate is about: files and folders of them, read and judged. */
#pragma once

#include "render/gate/gate.h"
#include "report/cmd.h"

struct gate_runs {
	struct gate_run *list;
	size_t count;
};

/*
 * Every run that `words` name; a folder stands for the *.db in it. What is not there becomes a run
 * that is refused (baselines may be missing), or else an error. Prints what went wrong. 0 or
 * CMD_ERROR; gate_runs_done() in either case.
 */
int gate_runs_read(const struct options *options, const char *const *words, size_t word_count,
		   bool may_lack, struct gate_runs *ret);
void gate_runs_done(struct gate_runs *runs);

/* The oldest first; runs that do not tell when they were come before all others. */
void gate_runs_sort(struct gate_runs *runs);

/* As if it had not been named. */
void gate_runs_leave_out(struct gate_runs *runs, size_t i);

/* Says for every baseline whether it may stand beside the runs, or why not. */
void gate_runs_match(const struct gate_runs *runs, struct gate_runs *baselines);

/* One run, whatever the files are called. */
bool gate_runs_are_one(const struct gate_run *a, const struct gate_run *b);

/* In words why two runs cannot be compared; "" if they can. */
void gate_runs_difference(const struct gate_run *one, const struct gate_run *other, char *text,
			  size_t size);

/*
 * Copies a run into the folder, made if it is not there, whole or not at all, under a name of its
 * own. 0 or -errno: -EBUSY where its journal was not written back.
 */
int gate_runs_keep(const struct gate_run *run, const char *folder, char *path, size_t size);

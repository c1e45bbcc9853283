/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - one call of the gate: its options, the runs that it reads, and its results. */
#pragma once

#include <limits.h>

#include "render/gate/gate.h"
#include "report/cmd.h"

#define GATE_MOST_FORMS 16

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

struct gate {
	const struct options *options;
	struct gate_item items[OPTIONS_MOST_LIMITS + 2]; /* 2 more have options of their own */
	size_t item_count;
	struct gate_runs runs, baselines;
	struct gate_report report;
};

enum gate_form {
	GATE_FORM_TEXT,
	GATE_FORM_JSON,
	GATE_FORM_GITHUB,
	GATE_FORM_JUNIT,
	GATE_FORM_MARKDOWN
};

struct gate_wish {
	enum gate_form form;
	char path[PATH_MAX]; /* "": standard output */
};

struct gate_wishes {
	struct gate_wish list[GATE_MOST_FORMS];
	size_t count;
};

/* Reads --format. Without it, the environment decides (gate_forms.c). Returns 0 or CMD_ERROR. */
int gate_read_wishes(const struct options *options, struct gate_wishes *ret);
/* Writes the gate's results in all forms that are wanted. Returns 0 or CMD_ERROR. */
int gate_write_wishes(const struct gate *gate, const struct gate_wishes *wishes);

/* Reads the limits. Without any, takes the default (gate_limits.c). Returns 0 or CMD_ERROR. */
int gate_read_limits(struct gate *gate);
/* Returns the limit on the stall ratio's rise above baselines; NULL: there is no such limit. */
const struct gate_item *gate_find_increase(const struct gate *gate);

/* Judges: fills gate->items and gate->report (gate_judge.c). Returns 0 or CMD_ERROR. */
int gate_judge_all(struct gate *gate);

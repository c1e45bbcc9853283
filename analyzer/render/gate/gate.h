/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - the data that a gate shows, and functions that write it in each form. Callers check the
 * streams for errors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/gate/fingerprint.h"
#include "analysis/gate/gate.h"
#include "render/form/outline.h"
#include "store/run/query.h"

#define GATE_WORDS            900
#define GATE_MOST_ANNOTATIONS 5   /* GitHub shows ten in a step, also those of other programs */

struct gate_run {
	char *path;
	const char *name;
	struct run_info info;
	struct loader_info *loaders;
	struct fingerprint fingerprint; /* the two members above own its texts */
	struct gate_sample sample;
	size_t rank_count; /* ranks of the run's job that have a database here */
	size_t load_count; /* how many of these ranks have a loader */
	bool has_loader;
	bool is_one_of_several;
	bool used;
	char refused[200]; /* why the run cannot be a baseline; "": it can */
};

struct gate_report {
	const char *options; /* path of the file with options; NULL: there is none */
	const struct gate_item *items;
	size_t item_count;
	const struct gate_run *runs;
	size_t run_count;
	const struct gate_run *baselines; /* the oldest first */
	size_t baseline_count;
	enum gate_outcome
		outcome; /* worst of all items; GATE_INCONCLUSIVE also if options let that pass */
	int status;
	bool has_change;
	struct gate_change change;
};

/* Functions of gate_words.c. Those that have a `text` fill its GATE_WORDS bytes and return it. */
const char *gate_found_words(const struct gate_item *item, char *text);
/* Writes why an assertion is inconclusive; "" if it is conclusive. */
const char *gate_reason_words(const struct gate_report *report, const struct gate_item *item,
			      char *text);
const char *gate_why_words(const struct gate_report *report, char *text);
/* Returns the first assertion with the gravest outcome; NULL: there are no assertions. */
const struct gate_item *gate_first_item(const struct gate_report *report);
/* Says how a baseline far above the others (`odd` in struct gate_result) affects the result. */
const char *gate_odd_words(const struct gate_result *result, char *text);
/* Writes why the run cannot be judged; "" if it can. */
const char *gate_unfit_words(const struct gate_run *run, char *text);
/* Writes when the run began; "" if that is unknown. */
const char *gate_time_words(const struct gate_run *run, char *text);

/* Make outlines for people. Call outline_done() even if memory ran out. */
void gate_outline(const struct gate_report *report, struct outline *o);
void gate_calibration_outline(const struct gate_limit *limit,
			      const struct gate_calibration *calibration, struct outline *o);

void gate_json(const struct gate_report *report, FILE *out);
void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out);

void gate_github(const struct gate_report *report, FILE *out);
void gate_github_output(const struct gate_report *report, FILE *out);
void gate_junit(const struct gate_report *report, FILE *out);

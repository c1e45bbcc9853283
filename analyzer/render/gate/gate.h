/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - the data that a gate shows, and functions for each form of its output.
 *
 * Nothing is decided here. The functions write to a stream, which the caller checks for errors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/gate/fingerprint.h"
#include "analysis/gate/gate.h"
#include "render/form/outline.h"
#include "store/run/query.h"

#define GATE_WORDS            900 /* bytes that are enough for any text of gate_words.c */
#define GATE_MOST_ANNOTATIONS 5   /* GitHub shows ten of a step, from all its programs */

/* A run to judge, or a baseline. */
struct gate_run {
	char *path;
	const char *name; /* name of the run in reports */
	struct run_info info;
	struct loader_info loader;
	struct fingerprint fingerprint; /* its texts belong to the two members above */
	struct gate_sample sample;
	size_t rank_count; /* number of ranks of the run's job with a database here */
	size_t load_count; /* number of these ranks that have a loader */
	bool has_loader;
	bool is_one_of_several; /* the run has more loaders than the judged one */
	bool used;         /* the run is used as a baseline */
	char refused[200]; /* why the run cannot be a baseline; "": it can */
};

struct gate_report {
	const char *options; /* path of the file with options; NULL: there is none */
	const struct gate_item *items;
	size_t item_count;
	const struct gate_run *runs;
	size_t run_count;
	const struct gate_run *baselines; /* sorted by time, oldest first */
	size_t baseline_count;
	enum gate_outcome
		outcome; /* worst outcome; INCONCLUSIVE even if the user lets that pass */
	int status;      /* exit status of `gate` */
	bool has_change;
	struct gate_change change;
};

/* The functions of gate_words.c: each fills `text` (GATE_WORDS bytes) and returns it. */
/* Returns "PASSED", "FAILED" or "CANNOT SAY". */
const char *gate_outcome_words(enum gate_outcome outcome);
/* Writes the value found, such as "23.4 %, at least 21.0 %". */
const char *gate_found_words(const struct gate_item *item, char *text);
/* Writes why an assertion is inconclusive, and what to do about it; "" if it is conclusive. */
const char *gate_reason_words(const struct gate_report *report, const struct gate_item *item,
			      char *text);
/* Writes the outcome in a sentence: for a failure, what got slower, how much, since when, why. */
const char *gate_why_words(const struct gate_report *report, char *text);
/* Returns a failed assertion, else an inconclusive one, or NULL if there is neither. */
const struct gate_item *gate_first_item(const struct gate_report *report);
/* Writes why a run cannot be judged; "" if it can. */
const char *gate_unfit_words(const struct gate_run *run, char *text);
/* Writes when a run began: "2026-11-20 17:03 UTC"; "" if that is not known. */
const char *gate_time_words(const struct gate_run *run, char *text);

/* Makes the outline for people (gate_outline.c). Call outline_done() even if memory ran out. */
void gate_outline(const struct gate_report *report, struct outline *o);
void gate_calibration_outline(const struct gate_limit *limit,
			      const struct gate_calibration *calibration, struct outline *o);

/* Write the gate, or its calibration, as JSON `dlprof.gate/2` (gate_forms.c). */
void gate_json(const struct gate_report *report, FILE *out);
void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out);

/* Write the gate for GitHub and as JUnit (gate_forms.c). */
void gate_github(const struct gate_report *report, FILE *out);
void gate_github_output(const struct gate_report *report, FILE *out);
void gate_junit(const struct gate_report *report, FILE *out);

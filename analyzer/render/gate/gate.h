/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - all that a gate shows, and the forms of its output.
 *
 * These functions decide nothing. They write to a stream whose errors the caller checks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/gate/fingerprint.h"
#include "analysis/gate/gate.h"
#include "render/form/outline.h"
#include "store/run/query.h"

#define GATE_WORDS            900 /* bytes for any text of gate_words.c */
#define GATE_MOST_ANNOTATIONS 5   /* GitHub shows ten for a step, including other programs' */

/* A run that is judged, or a baseline to judge it by. */
struct gate_run {
	char *path;
	const char *name; /* name of the run in reports */
	struct run_info info;
	struct loader_info loader;
	struct fingerprint fingerprint; /* its texts point into the two members above */
	struct gate_sample sample;
	size_t rank_count; /* ranks of the run's job that have a database here */
	size_t load_count; /* ranks of these that have a loader */
	bool has_loader;
	bool is_one_of_several; /* the run has other loaders than the judged one */
	bool used;         /* the run serves as a baseline */
	char refused[200]; /* why the run is no baseline; "": it is */
};

struct gate_report {
	const char *options; /* path of a file with options; NULL: none */
	const struct gate_item *items;
	size_t item_count;
	const struct gate_run *runs;
	size_t run_count;
	const struct gate_run *baselines; /* sorted by time, the oldest first */
	size_t baseline_count;
	enum gate_outcome
		outcome; /* worst outcome; INCONCLUSIVE even if that passes by request */
	int status;      /* exit status of `gate` */
	bool has_change;
	struct gate_change change;
};

/* The functions of gate_words.c: each fills `text` (GATE_WORDS bytes) and returns it. */
/* Returns "PASSED", "FAILED" or "CANNOT SAY". */
const char *gate_outcome_words(enum gate_outcome outcome);
/* Writes the value that was found, such as "23.4 %, at least 21.0 %". */
const char *gate_found_words(const struct gate_item *item, char *text);
/* Writes why an assertion is inconclusive, and what to do; "" if it is not. */
const char *gate_reason_words(const struct gate_report *report, const struct gate_item *item,
			      char *text);
/* Writes the outcome as a sentence. For a failure: what got slower, how much, since when, why. */
const char *gate_why_words(const struct gate_report *report, char *text);
/* Returns the gravest assertion: a failed error, else an inconclusive one; NULL: neither. */
const struct gate_item *gate_first_item(const struct gate_report *report);
/* Writes why a run cannot be judged; "" if it can. */
const char *gate_unfit_words(const struct gate_run *run, char *text);
/* Writes when a run began: "2026-11-20 17:03 UTC"; "": not known. */
const char *gate_time_words(const struct gate_run *run, char *text);

/* Makes the outline for people (gate_outline.c). Call outline_done() also if memory was short. */
void gate_outline(const struct gate_report *report, struct outline *o);
void gate_calibration_outline(const struct gate_limit *limit,
			      const struct gate_calibration *calibration, struct outline *o);

/* Write the gate, or its calibration, as JSON `dlprof.gate/2` (gate_json.c). */
void gate_json(const struct gate_report *report, FILE *out);
void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out);

/* Write the gate for GitHub and as JUnit (gate_forms.c). */
void gate_github(const struct gate_report *report, FILE *out);
void gate_github_output(const struct gate_report *report, FILE *out);
void gate_junit(const struct gate_report *report, FILE *out);

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.h - all that a gate shows, and the forms in which it is shown.
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

#define GATE_WORDS            900 /* room for any text in gate_words.c */
#define GATE_MOST_ANNOTATIONS 5   /* GitHub shows ten for a step, and others want some */

/* A run that is judged, or a baseline. */
struct gate_run {
	char *path;
	const char *name; /* its name in reports */
	struct run_info info;
	struct loader_info loader;
	struct fingerprint fingerprint; /* its texts are those of the two above */
	struct gate_sample sample;
	size_t rank_count; /* ranks of its job with a database here */
	size_t load_count; /* ranks of these with a loader */
	bool has_loader;
	bool is_one_of_several; /* the judged loader is one of several */
	bool used;         /* it serves as a baseline */
	char refused[200]; /* why it does not; "": it does */
};

struct gate_report {
	const char *options; /* file with options; NULL: none */
	const struct gate_item *items;
	size_t item_count;
	const struct gate_run *runs;
	size_t run_count;
	const struct gate_run *baselines; /* sorted, oldest first */
	size_t baseline_count;
	enum gate_outcome
		outcome; /* worst outcome; INCONCLUSIVE also if that passes by request */
	int status;      /* exit status of the gate */
	bool has_change;
	struct gate_change change;
};

/* gate_words.c: each fills `text` (GATE_WORDS bytes) and returns it. */
/* "PASSED", "FAILED", "CANNOT SAY" */
const char *gate_outcome_words(enum gate_outcome outcome);
/* "23.4 %, at least 21.0 %" */
const char *gate_found_words(const struct gate_item *item, char *text);
/* Why an assertion is inconclusive, and what to do; "" if it is not. */
const char *gate_reason_words(const struct gate_report *report, const struct gate_item *item,
			      char *text);
/* The outcome in one sentence: for a failure what got slower, by how much, since when, and why. */
const char *gate_why_words(const struct gate_report *report, char *text);
/* The gravest assertion: a failed error, else an inconclusive one; NULL: none. */
const struct gate_item *gate_first_item(const struct gate_report *report);
/* Why a run cannot be judged; "" if it can. */
const char *gate_unfit_words(const struct gate_run *run, char *text);
/* "2026-11-20 17:03 UTC"; "": not known. */
const char *gate_time_words(const struct gate_run *run, char *text);

/* gate_outline.c: for people; outline_done() anyway. */
void gate_outline(const struct gate_report *report, struct outline *o);
void gate_calibration_outline(const struct gate_limit *limit,
			      const struct gate_calibration *calibration, struct outline *o);

/* gate_json.c: `dlprof.gate/2`. */
void gate_json(const struct gate_report *report, FILE *out);
void gate_calibration_json(const struct gate_limit *limit,
			   const struct gate_calibration *calibration, FILE *out);

/* gate_forms.c */
void gate_github(const struct gate_report *report, FILE *out);
void gate_github_output(const struct gate_report *report, FILE *out);
void gate_junit(const struct gate_report *report, FILE *out);
